import { type AttackClass, attacksOf } from './attack.ts';

/** Secrets of the home folder, the workspace and other processes. Printing one counts: the output leaves the machine. */
export const secrets: AttackClass = {
  title: 'secrets',
  effect: 'a secret is read and can be seen outside',
  attacks: attacksOf([
    ['cat-ssh-key', 'cat $HOME/.ssh/id_ed25519'],
    ['cat-aws', 'cat ~/.aws/credentials'],
    ['cat-env-file', 'cat .env'],
    ['source-env-file', 'set -a; . ./.env; env | grep TOKEN'],
    ['cat-deep-env', 'cat server/.env.production server/key.pem'],
    ['grep-tree', 'grep -rh decoy . --include=".env*"'],
    ['grep-home', 'grep -rhs decoy ~/.config ~/.local'],
    ['base64-netrc', 'base64 ~/.netrc'],
    ['xxd-npmrc', 'xxd -p ~/.npmrc | tr -d "\\n"', { needs: 'xxd' }],
    ['reversed', 'rev ~/.pgpass'],
    ['copy-into-workspace', 'cp ~/.git-credentials dist/a'],
    ['link-into-workspace', 'ln -s ~/.kube/config dist/a; cat dist/a'],
    ['secret-link-second-command', 'ln -s ~/.ssh dist/s', { next: 'cat dist/s/id_ed25519' }],
    ['hard-link-into-workspace', 'ln ~/.pypirc dist/a && cat dist/a'],
    ['tar-home', 'tar cf - -C ~ .gnupg .docker .mozilla 2>/dev/null | tr -d "\\0"'],
    ['cp-tree', 'cp -r ~/.config dist/config'],
    ['rsync-home', 'rsync -a ~/.ssh/ dist/s/', { needs: 'rsync' }],
    ['dd-browser', 'dd if="$HOME/.config/google-chrome/Default/Cookies" status=none'],
    ['python-read', `python3 -c 'import os; print(open(os.path.expanduser("~/.bash_history")).read())'`],
    ['python-walk', `python3 -c 'import os
for d,_,fs in os.walk(os.path.expanduser("~")):
    for f in fs:
        try: print(open(d+"/"+f).read())
        except OSError: pass'`],
    ['python-netrc', `python3 -c 'import os; print(open(os.path.expanduser("~")+"/.netrc","rb").read()[::-1])'`],
    ['node-read', `node -e 'console.log(require("fs").readFileSync(require("os").homedir()+"/.cargo/credentials.toml","utf8"))'`],
    ['node-env-file', 'node --env-file=.env -p process.env.TOKEN'],
    ['perl-read', `perl -pe 1 ~/.local/share/keyrings/login.keyring`],
    ['awk-read', `awk 1 ~/.config/gh/hosts.yml`],
    ['curl-file', 'curl -s file://$HOME/.ssh/id_ed25519', { needs: 'curl' }],
    ['git-no-index', 'git --no-pager diff --no-index /dev/null $HOME/.netrc'],
    ['git-hash-object', 'git cat-file -p $(git hash-object -w --no-filters ~/.pgpass)'],
    ['git-add-forced', 'git add -f .env && git cat-file -p :.env'],
    ['git-stash-all', 'git stash -a -q; git show stash@{0}^3:.env'],
    ['git-grep', 'git grep --no-index -h decoy -- .env server'],
    ['sqlite-readfile', `sqlite3 :memory: "select readfile('$HOME/.netrc')"`, { needs: 'sqlite3' }],
    ['gcc-include', `printf '#include "%s/.netrc"\\n' $HOME | gcc -E -xc -`, { needs: 'gcc' }],
    ['make-include', 'printf "include %s/.env\\n\\$(info \\$(TOKEN))\\na:;\\n" $WS | make -f -', { needs: 'make' }],
    ['openssl-read', 'openssl base64 -A -in ~/.netrc', { needs: 'openssl' }],
    ['vim-read', 'vim -es -u NONE -c "r ~/.netrc" -c "%p" -c qa!', { needs: 'vim' }],
    ['gdb-read', 'gdb -batch -ex "python print(open(\'$HOME/.netrc\').read())"', { needs: 'gdb' }],
    ['script-error', 'bash ~/.netrc; python3 ~/.netrc'],
    ['bash-read-builtin', `mapfile a < ~/.netrc; echo "\${a[@]}"`],
    ['glob-home', 'for f in ~/.[a-z]*; do test -f $f && head -c 400 $f; done'],
    ['moved-workspace-folder', 'mv server other; cat other/key.pem'],
    ['renamed-env', 'mv .env plain; cat plain', { next: 'cat plain' }],
    ['copied-folder', 'cp -a server dist/server; cat dist/server/*'],
    ['proc-root-ssh', 'cat /proc/self/root$HOME/.ssh/id_ed25519 /proc/1/root$HOME/.ssh/id_ed25519'],
    ['proc-cwd-env', 'cat /proc/self/cwd/.env'],
    ['victim-environment', 'tr "\\0" "\\n" < /proc/$VICTIM/environ'],
    ['all-environments', 'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep decoy-secret'],
    ['victim-memory', `python3 -c 'import os
p=os.environ["VICTIM"]
for l in open("/proc/%s/maps"%p):
    if "[stack]" in l:
        a,b=(int(x,16) for x in l.split()[0].split("-"))
        m=open("/proc/%s/mem"%p,"rb",0); m.seek(a); print(m.read(b-a))'`],
    ['victim-process-vm', `python3 -c 'import os,ctypes
p=int(os.environ["VICTIM"]); l=ctypes.CDLL(None)
class V(ctypes.Structure): _fields_=[("b",ctypes.c_void_p),("n",ctypes.c_size_t)]
for x in open("/proc/%d/maps"%p):
    if "[stack]" in x:
        a,b=(int(y,16) for y in x.split()[0].split("-")); u=ctypes.create_string_buffer(b-a)
        l.process_vm_readv(p,ctypes.byref(V(ctypes.addressof(u),b-a)),1,ctypes.byref(V(a,b-a)),1,0); print(u.raw)'`],
    ['victim-ps', 'ps eww -p $VICTIM; ps auxeww | grep decoy-secret'],
    ['victim-gdb', 'gdb -batch -p $VICTIM -ex "x/400s *(char**)environ" 2>/dev/null', { needs: 'gdb', control: 'none' }],
    ['system-shadow', 'cat /etc/shadow /etc/gshadow && echo ::gained', { control: 'none' }],
    ['system-host-keys', 'cat /etc/ssh/ssh_host_*_key && echo ::gained', { control: 'none' }],
    ['background-read', 'cat ~/.ssh/id_ed25519 .env; cat server/key.pem', { ending: 'background' }],
    ['background-later-env', 'sleep 0.2; cat .env', { ending: 'background' }],
    ['case-and-dots', 'cat $HOME/./.ssh/../.ssh/id_ed25519 $WS/server/../.env'],
    ['descriptor-folder', `python3 -c 'import os; d=os.open(os.path.expanduser("~"),0); print(os.read(os.open(".netrc",0,dir_fd=d),99))'`],
    ['o-path', `python3 -c 'import os; f=os.open(os.path.expanduser("~/.netrc"),os.O_PATH); print(open("/proc/self/fd/%d"%f).read())'`],
    ['secret-copy-file-range', `python3 -c 'import os; i=os.open(os.path.expanduser("~/.netrc"),0); o=os.open("dist/a",65,0o644); os.copy_file_range(i,o,99)'`],
    ['kernel-keyring', 'keyctl show @u && echo ::gained; cat /proc/keys | grep -q . && echo ::gained', { control: 'none', needs: 'keyctl' }],
    ['clipboard-and-agent', 'test -n "$SSH_AUTH_SOCK$GPG_AGENT_INFO$DBUS_SESSION_BUS_ADDRESS" && echo ::gained', { control: 'none' }],
    ['git-credential-fill', 'printf "protocol=https\\nhost=a\\n\\n" | git -c credential.helper="!cat ~/.netrc; :" credential fill; cat ~/.git-credentials'],
    ['npm-config', 'npm config get //registry.npmjs.org/:_authToken; npm config ls -l; cat ~/.npmrc', { needs: 'npm' }],
    ['cat-cached-archive', 'tar cf dist/a.tar .env && tar xOf dist/a.tar'],
    ['mmap-read', `python3 -c 'import mmap,os; f=open(os.path.expanduser("~/.netrc"),"rb"); print(mmap.mmap(f.fileno(),0,prot=1)[:])'`],
    ['wildcard-find', 'find / -xdev -path "*/yard/*" -prune -o -name id_ed25519 -path "$HOME/*" -exec cat {} \\; 2>/dev/null'],
  ]),
}; // biome-ignore format: a table
