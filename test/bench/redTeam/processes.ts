import { type AttackClass, attacksOf } from './attack.ts';

const call = (values: string) =>
  `python3 -c 'import ctypes; l=ctypes.CDLL(None,use_errno=True); b=ctypes.create_string_buffer(256); print("::gained" if l.syscall(${values})>=0 else "no")'`;
const none = { control: 'none' } as const;

/** Processes outside, what is left behind, and rights. */
export const processes: AttackClass = {
  title: 'processes and privileges',
  effect: 'a process outside is changed or left, or the kernel allows more',
  attacks: attacksOf([
    ['kill', 'kill -9 $VICTIM'],
    ['kill-stop', 'kill -STOP $VICTIM'],
    ['kill-by-name', 'pkill -9 -f $VICTIM_NAME'],
    ['kill-python', `python3 -c 'import os; os.kill(int(os.environ["VICTIM"]),15)'`],
    ['kill-descriptor', `python3 -c 'import os,signal; signal.pidfd_send_signal(os.pidfd_open(int(os.environ["VICTIM"])),9)'`],
    ['kill-thread', `python3 -c 'import ctypes,os; v=int(os.environ["VICTIM"]); ctypes.CDLL(None).syscall(234,v,v,9)'`],
    ['kill-queue', `python3 -c 'import ctypes,os; l=ctypes.CDLL(None); l.sigqueue(int(os.environ["VICTIM"]),9,0)'`],
    ['kill-all', 'trap "" TERM; kill -TERM -1', none],
    ['ptrace-attach', `python3 -c 'import ctypes,os; l=ctypes.CDLL(None); l.ptrace(16,int(os.environ["VICTIM"]),0,0); os.kill(int(os.environ["VICTIM"]),19)'`],
    ['ptrace-gdb', 'gdb -batch -p $VICTIM -ex "call (void)_exit(1)"', { needs: 'gdb' }],
    ['ptrace-strace', 'timeout 1 strace -p $VICTIM -e inject=all:signal=9; kill -9 $VICTIM', { needs: 'strace' }],
    ['memory-write', `python3 -c 'import os
p=os.environ["VICTIM"]
for l in open("/proc/%s/maps"%p):
    if "[stack]" in l: open("/proc/%s/mem"%p,"r+b",0); print("::gained")'`],
    ['renice', 'renice -n 5 -p $VICTIM'],
    ['limits', 'prlimit --pid $VICTIM --nofile=99:99'],
    ['processors', 'taskset -p 1 $VICTIM'],
    ['policy', 'chrt -b -p 0 $VICTIM'],
    ['input-output-priority', 'ionice -c 3 -p $VICTIM && echo ::gained'],
    ['out-of-memory-score', 'echo 900 > /proc/$VICTIM/oom_score_adj'],
    ['victim-command-name', 'printf evil > /proc/$VICTIM/comm && echo ::gained', none],
    ['cgroup-move', 'echo $VICTIM > /sys/fs/cgroup/cgroup.procs && echo ::gained', none],
    ['cgroup-freeze', 'for f in /sys/fs/cgroup/*/cgroup.freeze; do (: >> $f) 2>/dev/null && echo ::gained; done; true', none],
    ['left-background', `bash -c 'exec -a $TAG sleep 999' >/dev/null 2>&1 &`],
    ['left-nohup', `nohup bash -c 'exec -a $TAG sleep 998' >/dev/null 2>&1 & disown`],
    ['left-setsid', `setsid bash -c 'exec -a $TAG sleep 997' </dev/null >/dev/null 2>&1 &`],
    ['left-double-fork', `perl -MPOSIX -e 'fork and exit; setsid; fork and exit; open STDOUT,">/dev/null"; open STDERR,">/dev/null"; sleep 996' $TAG`],
    ['left-ignoring-signals', `(trap '' TERM HUP INT; exec -a $TAG sleep 995) >/dev/null 2>&1 &`],
    ['left-node', `node -e 'require("child_process").spawn("sleep",["994"],{argv0:process.env.TAG,detached:true,stdio:"ignore"}).unref()'`],
    ['left-python-daemon', `python3 -c 'import os,sys
if os.fork()==0:
    os.setsid()
    if os.fork()==0:
        os.closerange(0,9); os.execvp("sleep",[os.environ["TAG"],"993"])'`],
    ['left-tmux', `tmux -S $WS/dist/t new-session -d "bash -c 'exec -a $TAG sleep 992'"; sleep 0.2`, { needs: 'tmux' }],
    ['left-background-command', `bash -c 'exec -a $TAG sleep 991' & sleep 600`, { ending: 'background' }],
    ['left-background-daemon', `setsid bash -c 'exec -a $TAG sleep 990' >/dev/null 2>&1 & sleep 0.1`, { ending: 'background' }],
    ['left-stopped', `setsid bash -c 'exec -a $TAG sleep 989' >/dev/null 2>&1 & sleep 0.1; echo ::ready; sleep 600`, { ending: 'stop' }],
    ['left-writer', `(setsid sh -c 'sleep 1; touch $OUT/new file2' &) >/dev/null 2>&1`, none],
    ['user-namespace', 'unshare -U echo ::gained'],
    ['user-namespace-root', 'unshare -Ur echo ::gained'],
    ['network-of-its-own', 'unshare -Urn echo ::gained'],
    ['user-namespace-limit', `unshare -Urm sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && echo ::gained'`, none],
    ['user-namespace-call', call('272,0x10000000')],
    ['user-namespace-clone', `python3 -c 'import ctypes,os
l=ctypes.CDLL(None); p=l.syscall(56,0x10000011,0,0,0,0)
if p==0: print("::gained",flush=True); os._exit(0)
if p>0: os.waitpid(p,0)'`],
    ['user-namespace-clone3', `python3 -c 'import ctypes,os,struct
l=ctypes.CDLL(None); a=struct.pack("8Q",0x10000000,0,0,0,17,0,0,0); p=l.syscall(435,a,64)
if p==0: print("::gained",flush=True); os._exit(0)
if p>0: os.waitpid(p,0)'`],
    ['other-user', `python3 -c 'import os; os.setuid(1); print("::gained" if os.getuid()==1 else "no")'`],
    ['sudo', 's=sudo; $s -n id -u && echo ::gained', none],
    ['su', 's=su; echo | $s -c "echo ::gained" nobody', none],
    ['file-capability', `cp /bin/true dist/p; setcap cap_net_raw+ep dist/p && echo ::gained`, { needs: 'setcap' }],
    ['capability-in-bounds', 'grep -q "CapBnd:.*[1-9a-f]" /proc/self/status && echo ::gained'],
    ['new-privileges', 'grep -q "NoNewPrivs:.*0" /proc/self/status && echo ::gained'],
    ['no-filter', 'grep -q "^Seccomp:.*0" /proc/self/status && echo ::gained'],
    ['io-uring', call('425,1,b')],
    ['key-control', call('250,0,-3,1')],
    ['key-add', call('248,b"user",b"red",b"x",1,-2'), none],
    ['bpf', call('321,0,b,72'), none],
    ['perf-event', call('298,b,0,-1,-1,0'), none],
    ['user-faults', call('323,1')],
    ['kernel-log', call('103,10,0,0')],
    ['handle-name', `python3 -c 'import ctypes,struct; l=ctypes.CDLL(None); h=ctypes.create_string_buffer(struct.pack("Ii",128,0)+b"\\0"*128); i=ctypes.c_int(); print("::gained" if l.syscall(303,-100,b"/",h,ctypes.byref(i),0)>=0 else "no")'`],
    ['foreign-numbers', call('0x40000027'), none],
    ['personality-kexec', call('246,0,0,0,0'), none],
    ['module-load', call('175,b,8,b""'), none],
    ['reboot-call', call('169,0,0,0,0'), none],
    ['clock-set', `python3 -c 'import time; time.clock_settime(0,time.time()); print("::gained")'`, none],
    ['host-name', 'hostname "$(hostname)" && echo ::gained', none],
    ['terminal-input', `script -qec "python3 -c 'import fcntl; fcntl.ioctl(0,0x5412,b\\"x\\"); print(\\"::gained\\")'" /dev/null </dev/null`, { needs: 'script', control: 'none' }],
    ['preload-next', 'export LD_PRELOAD=$WS/a.so BASH_ENV=$WS/e; echo "touch $OUT/new" > e', { next: 'bash -c true; test -n "$LD_PRELOAD$BASH_ENV" && echo ::gained', control: 'none' }],
    ['temporary-next', 'echo "touch $OUT/new" > /tmp/e.sh', { next: 'sh /tmp/e.sh; rm -f /tmp/e.sh' }],
    ['kernel-settings', 'for f in $(find /proc/sys -type f -perm -200 2>/dev/null); do if (exec 3>>$f) 2>/dev/null; then echo ::gained; echo $f; fi; done', none],
    ['core-pattern-same', '(cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern) && echo ::gained', none],
    ['kernel-devices', 'for f in $(find /sys -maxdepth 5 -type f -perm -200 2>/dev/null | head -300); do if (exec 3>>$f) 2>/dev/null; then echo ::gained; fi; done', none],
  ]),
}; // biome-ignore format: a table
