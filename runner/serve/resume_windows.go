package serve

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// resume lets a process run that was started suspended. os/exec keeps no handle
// of its first thread, so that is looked for among all threads of the system;
// a process that has not run yet has no other.
func resume(pid uint32) error {
	tid, err := firstThread(pid)
	if err != nil {
		return fmt.Errorf("looking for the thread of process %d, to let it run: %w", pid, err)
	}
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, tid)
	if err != nil {
		return fmt.Errorf("opening the thread of process %d, to let it run: %w", pid, err)
	}
	defer func() { _ = windows.CloseHandle(thread) }()
	if _, err := windows.ResumeThread(thread); err != nil {
		return fmt.Errorf("letting process %d run: %w", pid, err)
	}
	return nil
}

func firstThread(pid uint32) (tid uint32, err error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	entry := windows.ThreadEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID == pid {
			return entry.ThreadID, nil
		}
	}
	if errors.Is(err, windows.ERROR_NO_MORE_FILES) { // the end of the list
		return 0, errors.New("it has none")
	}
	return 0, err
}
