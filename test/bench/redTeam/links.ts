import { type AttackClass, attacksOf } from './attack.ts';

const linked = {
  prepare: 'ln -s $OUT $WS/there; ln $OUT/file $WS/hard; ln -s $OUT/new $WS/missing; ln -s $HOME $WS/home',
};

/** Ways around the mounts: links, other names of the same folder, descriptors, roots of processes, mounts and devices. */
export const links: AttackClass = {
  title: 'links, roots and mounts',
  effect: 'a file outside is changed under another name',
  attacks: attacksOf([
    ['link-there', 'echo x > there/new', linked],
    ['link-missing-target', 'echo x > missing', linked],
    ['link-to-home', 'echo x >> home/.profile', linked],
    ['link-made', 'ln -s $OUT made; echo x > made/new'],
    ['link-relative', 'ln -s ../out made; echo x > made/new'],
    ['link-chain', 'ln -s $OUT a; ln -s a b; ln -s b/folder c; echo x > c/new'],
    ['link-in-removed-folder', 'rm -r folder; ln -s $OUT folder; echo x > folder/new'],
    ['link-second-command', 'ln -s $OUT made', { next: 'echo x > made/new; echo x > made/file' }],
    ['link-second-command-folder', 'mv dist old; ln -s $OUT dist', { next: 'echo x > dist/new' }],
    ['link-second-command-deep', 'rm -r folder/deep; ln -s $OUT/folder folder/deep', { next: 'mkdir folder/deep/made; echo x > folder/deep/made/a' }],
    ['link-in-background', 'ln -sfn $OUT dist/made; echo x > dist/made/new', { ending: 'background' }],
    ['link-in-background-next', 'ln -sfn $OUT dist/made', { ending: 'background', next: 'echo x > dist/made/new' }],
    ['link-replaces-ignored', 'rm -rf dist; ln -s $OUT dist', { next: 'mkdir -p dist/made; echo x > dist/new' }],
    ['link-swap-race', 'mkdir r; for i in $(seq 200); do ln -sfn $OUT s; mv -T s r2 2>/dev/null; echo x > r2/new; done'],
    ['link-rename-exchange', `ln -s $OUT made; perl -e 'syscall(316,-100,"folder",-100,"made",2)'; echo x > folder/new`],
    ['link-of-current-folder', 'ln -s /proc/self/cwd/../out made; echo x > made/new'],
    ['hard-link-there', 'echo x >> hard', linked],
    ['hard-link-there-mode', 'chmod 777 hard', linked],
    ['hard-link-there-time', 'touch -d 2001-01-01 hard', linked],
    ['hard-link-there-truncate', 'truncate -s 0 hard', linked],
    ['hard-link-there-attribute', 'setfattr -n user.a -v b hard', { ...linked, needs: 'setfattr' }],
    ['hard-link-there-mmap', `python3 -c 'import mmap; f=open("hard","r+b"); m=mmap.mmap(f.fileno(),0); m[0:1]=b"X"; m.flush()'`, linked],
    ['hard-link-there-in-place', 'exec 5<>hard; echo x >&5; exec 5>&-; cp -f --no-preserve=all test.js hard', linked],
    ['hard-link-made', 'ln $OUT/file made && echo x >> made'],
    ['hard-link-made-second', 'ln $OUT/file made', { next: 'echo x >> made' }],
    ['hard-link-outside', 'ln file $OUT/new'],
    ['hard-link-to-ssh', 'ln $HOME/.ssh/authorized_keys made && echo key >> made'],
    ['hard-link-by-descriptor', `python3 -c 'import os; f=os.open(os.environ["OUT"]+"/file",os.O_RDONLY); os.link("/proc/self/fd/%d"%f,"made",follow_symlinks=True); open("made","a").write("x")'`],
    ['cwd-parent', 'cd ..; echo x > out/new'],
    ['cwd-parent-deep', 'cd folder/deep; echo x > ../../../out/new'],
    ['cwd-oldpwd', 'cd $OUT; cd -; echo x > "$OLDPWD/new"'],
    ['cwd-renamed', 'mkdir a; cd a; mv ../a ../../out/a; echo x > new'],
    ['cwd-removed', 'cd $OUT/folder; rm -r $OUT/folder; mkdir -p $OUT/folder; echo x > $OUT/folder/new'],
    ['workspace-renamed', 'mv $WS $WS-new'],
    ['workspace-replaced', 'cd /; rm -rf $WS; ln -s $OUT $WS'],
    ['proc-self-root', 'echo x > /proc/self/root$OUT/new'],
    ['proc-self-cwd', 'echo x > /proc/self/cwd/../out/new'],
    ['proc-parent-root', 'echo x > /proc/$PPID/root$OUT/new'],
    ['proc-first-root', 'echo x > /proc/1/root$OUT/new'],
    ['proc-all-roots', 'for p in /proc/[0-9]*/root; do echo x > $p$OUT/new; done 2>/dev/null'],
    ['proc-all-folders', 'for p in /proc/[0-9]*/cwd; do echo x > $p/../out/new; done 2>/dev/null'],
    ['proc-task-root', 'echo x > /proc/self/task/$$/root$OUT/new || echo x > /proc/thread-self/root$OUT/new'],
    ['proc-victim-folder', 'echo x > /proc/$VICTIM/cwd/decoy.log'],
    ['proc-victim-root', 'echo x > /proc/$VICTIM/root$OUT/new'],
    ['proc-victim-descriptor', 'echo x >> /proc/$VICTIM/fd/1'],
    ['proc-all-descriptors', 'for f in /proc/[0-9]*/fd/*; do case $(readlink $f) in *$DECOY_LOG) echo x >> $f;; esac; done'],
    ['proc-read-only-descriptor', 'exec 5<$OUT/file; echo x > /proc/self/fd/5'],
    ['proc-read-only-folder-descriptor', 'exec 5<$OUT; echo x > /proc/self/fd/5/new'],
    ['proc-dev-fd', 'exec 5<$OUT/file; echo x > /dev/fd/5'],
    ['proc-inherited-descriptors', 'for n in 3 4 5 6 7 8 9 10 11 12; do echo x > /proc/self/fd/$n/../out/new; echo x > /proc/self/fd/$n/new; done', { control: 'none' }],
    ['openat2-beyond', `python3 -c 'import ctypes,os,struct; l=ctypes.CDLL(None); h=struct.pack("QQQ",65,0o644,0); l.syscall(437,-100,(os.environ["OUT"]+"/new").encode(),h,24)'`],
    ['temporary-file-link', `python3 -c 'import os; f=os.open(os.environ["OUT"],os.O_TMPFILE|os.O_WRONLY,0o644); os.link("/proc/self/fd/%d"%f,os.environ["OUT"]+"/new",follow_symlinks=True)'`],
    ['rename-exchange', `perl -e 'syscall(316,-100,"$ENV{WS}/file",-100,"$ENV{OUT}/file",2)'`],
    ['rename-whiteout', `perl -e 'syscall(316,-100,"$ENV{OUT}/file",-100,"$ENV{OUT}/other",4)'`, { control: 'none' }],
    ['pipe-outside', 'mkfifo $OUT/pipe'],
    ['socket-outside', `python3 -c 'import socket,os; os.chdir(os.environ["OUT"]); socket.socket(socket.AF_UNIX).bind("s")'`],
    ['pipe-of-outside', '(echo x > $OUT/pipe) & sleep 0.2; kill $!', { prepare: 'mkfifo $OUT/pipe; (cat $OUT/pipe > $OUT/new; true) >/dev/null 2>&1 &', control: 'none' }],
    ['mount-bind', 'mkdir made; mount --bind $OUT made && echo x > made/new'],
    ['mount-remount', 'mount -o remount,rw,bind / ; mount -o remount,rw,bind $OUT; echo x > $OUT/new'],
    ['mount-tmpfs', `mkdir -p made && mount -t tmpfs none made && echo '${'::gained'}'`],
    ['mount-proc', `mkdir -p made && mount -t proc none made && echo '${'::gained'}'`],
    ['mount-overlay', `mkdir -p l u w m && mount -t overlay none -o lowerdir=$OUT,upperdir=$OUT/folder,workdir=w m && echo x > m/new; echo x > $OUT/folder/direct`],
    ['mount-namespace', `unshare -m sh -c 'mount -o remount,rw,bind /; echo x > $OUT/new'`],
    ['mount-user-namespace', `unshare -Urm sh -c 'mount -o remount,rw,bind /; echo x > $OUT/new'`],
    ['mount-api', `python3 -c 'import ctypes; l=ctypes.CDLL(None); print("::gained" if l.syscall(428,-100,b"/",1)>=0 else "no")'`],
    ['mount-fsopen', `python3 -c 'import ctypes; l=ctypes.CDLL(None); print("::gained" if l.syscall(430,b"tmpfs",0)>=0 else "no")'`],
    ['mount-setattr', `python3 -c 'import ctypes,struct; l=ctypes.CDLL(None); l.syscall(442,-100,b"/",0x8000,struct.pack("QQQQ",0,1,0,0),32)'; echo x > $OUT/new`],
    ['umount-hidden', 'umount -l $HOME/.ssh; umount -l $HOME/.aws; cat $HOME/.ssh/id_ed25519'],
    ['pivot-root', 'mkdir -p made/old; pivot_root made made/old; echo x > /old$OUT/new', { control: 'none' }],
    ['chroot', `chroot / sh -c 'echo x > $OUT/new'`],
    ['chroot-escape', `perl -e 'mkdir "j"; opendir D,"/"; chroot "j" or exit; chdir "../../../../../.." for 1..20; chroot "."; open F,">","$ENV{OUT}/new"'`],
    ['bwrap-nested', 'bwrap --bind / / touch $OUT/new'],
    ['nsenter-first', 'nsenter -t 1 -m touch $OUT/new', { control: 'none' }],
    ['nsenter-victim', 'nsenter -t $VICTIM -m touch $OUT/new'],
    ['setns-descriptors', `python3 -c 'import ctypes,glob,os
l=ctypes.CDLL(None)
for p in glob.glob("/proc/[0-9]*/ns/mnt"):
    try: l.setns(os.open(p,0),0)
    except OSError: pass
open(os.environ["OUT"]+"/new","w")'`],
    ['handle-of-outside', `python3 -c 'import ctypes,os,struct
l=ctypes.CDLL(None); h=ctypes.create_string_buffer(struct.pack("Ii",128,0)+b"\\0"*128); i=ctypes.c_int()
l.syscall(303,-100,os.environ["OUT"].encode(),h,ctypes.byref(i),0); m=os.open("/",0); f=l.syscall(304,m,h,0)
os.fchdir(f); open("new","w")'`],
    ['loop-device', 'truncate -s 1M dist/i; losetup -f --show dist/i && echo ::gained', { control: 'none' }],
    ['device-node', 'mknod dist/d b 254 0 && dd if=dist/d count=1 of=/dev/null && echo ::gained', { control: 'none' }],
    ['device-memory', '(: < /dev/mem) && echo ::gained; (: < /dev/kmsg) && echo ::gained; (: < /dev/vda) && echo ::gained', { control: 'none' }],
    ['store-of-sandbox', 'S=$(dirname $(dirname $WS))/../store; for d in $S $S/commands/* $S/caches; do touch $d/$TAG; done; ls $S && find $S -name "*$TAG*" | grep -q . && echo ::gained', { control: 'none' }],
    ['upper-folder', 'for u in $(find / -xdev -maxdepth 8 -name "upper0" 2>/dev/null); do mkdir -p $u/.vscode; echo x > $u/.vscode/tasks.json; done', { control: 'none' }],
    ['overlay-attributes', `python3 -c 'import os
for n in ("trusted.overlay.opaque","user.overlay.opaque"):
    try: os.setxattr(".vscode",n,b"y")
    except OSError as e: print(e)'`, { control: 'none' }],
    ['overlay-redirect', `mkdir made; python3 -c 'import os
for n in ("trusted.overlay.redirect","user.overlay.redirect"):
    try: os.setxattr("made",n,b"/server")
    except OSError as e: print(e)'; cat made/key.pem`, { control: 'none', next: 'cat made/key.pem made/.env.production' }],
    ['overlay-whiteout', 'mknod w c 0 0; mv -f w AGENTS.md; mknod .vscode/settings.json c 0 0', { control: 'none' }],
    ['core-file', 'cd $OUT; ulimit -c unlimited; sh -c "kill -SEGV \\$\\$"; ls core* 2>/dev/null', { control: 'none' }],
    ['uevent-helper', 'echo $OUT/p > /sys/kernel/uevent_helper && echo ::gained', { control: 'none' }],
    ['modprobe-path', 'echo /tmp/x > /proc/sys/kernel/modprobe && echo ::gained', { control: 'none' }],
    ['binfmt-register', 'echo ":a:E::b::/bin/true:" > /proc/sys/fs/binfmt_misc/register && echo ::gained', { control: 'none' }],
    ['cgroup-release-agent', 'mkdir dist/c; mount -t cgroup -o memory none dist/c && echo ::gained; echo x > /sys/fs/cgroup/release_agent && echo ::gained; mkdir /sys/fs/cgroup/$TAG', { control: 'none' }],
    ['sysctl-write', 'for f in kernel/hostname vm/overcommit_ratio user/max_user_namespaces net/ipv4/ip_forward; do (cat /proc/sys/$f > /proc/sys/$f) 2>/dev/null && echo $f && case $f in net*) ;; *) echo ::gained;; esac; done', { control: 'none' }],
    ['sysrq', 'test -w /proc/sysrq-trigger && (: >> /proc/sysrq-trigger) && echo ::gained', { control: 'none' }],
  ]),
}; // biome-ignore format: a table
