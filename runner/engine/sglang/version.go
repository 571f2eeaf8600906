package sglang

import (
	"fmt"
	"strings"
)

// The versions from which answers carry counts of their drafts.
const (
	patchMetaInfo = 14 // 0.5.14: return_meta_info, in answers that are not streamed
	patchDetails  = 19 // 0.5.19: return_spec_tokens_details
)

// The fields of a request that ask for the counts.
const (
	fieldDetails  = "return_spec_tokens_details"
	fieldMetaInfo = "return_meta_info"
)

// askField is the field by which a version is asked for counts, empty where it has
// none. A version that is no release, such as a development build's 0.0.0.dev1 or
// one that is not told, counts as new: servers ignore fields that they do not know.
func askField(version string) string {
	var major, minor, patch int
	n, _ := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d.%d", &major, &minor, &patch)
	switch {
	case n < 3, major == 0 && minor == 0, major > 0, minor > 5:
		return fieldDetails
	case minor < 5 || patch < patchMetaInfo:
		return ""
	case patch < patchDetails:
		return fieldMetaInfo
	}
	return fieldDetails
}
