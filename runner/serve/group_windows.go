package serve

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object, which holds the first process and everything that it
// starts. The system ends all of it when the last handle is closed, which also
// happens when this program dies.
type group struct {
	job windows.Handle
}

// startGroup starts the command suspended, puts it into a new job and lets it
// run: so all that it ever starts is in the job too. Should this program die
// between the first two, a process is left that never runs and holds nothing.
func startGroup(cmd *exec.Cmd, _ time.Duration) (*group, error) {
	job, err := newJob()
	if err != nil {
		return nil, fmt.Errorf("creating its job object: %w", err)
	}
	g := &group{job: job}
	// A console group of its own: Ctrl-C here must not end the server first.
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED}
	if err := cmd.Start(); err != nil {
		g.release()
		return nil, err
	}
	err = g.add(cmd.Process)
	if err == nil {
		err = resume(uint32(cmd.Process.Pid))
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		g.release()
		return nil, err
	}
	return g, nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

func (g *group) add(p *os.Process) error {
	var addErr error
	err := p.WithHandle(func(h uintptr) { addErr = windows.AssignProcessToJobObject(g.job, windows.Handle(h)) })
	if err := errors.Join(err, addErr); err != nil {
		return fmt.Errorf("putting process %d into its job object: %w", p.Pid, err)
	}
	return nil
}

// terminate ends the job at once: Windows has no SIGTERM, and no other request
// that a server without a window can be counted on to hear.
func (g *group) terminate() error { return g.kill() }

func (g *group) kill() error {
	if err := windows.TerminateJobObject(g.job, 1); err != nil {
		return fmt.Errorf("terminating its job object: %w", err)
	}
	return nil
}

// alive is false: nothing survives the end of a job.
func (g *group) alive() bool { return false }

func (g *group) release() { _ = windows.CloseHandle(g.job) }
