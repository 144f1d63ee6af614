import type { Row } from './row.ts';

/** Of all commands that show differences. Left out: `--output`, `-O`, `--ext-diff`, `--textconv`, `--no-index`. */
const differences =
  '-p -u -s --[no-]patch -U=# --unified=# --raw --stat --stat= --shortstat --numstat --dirstat --dirstat= --summary --compact-summary --name-only --name-status ' +
  '--[no-]color --color= --color-words --word-diff --word-diff=color|plain|porcelain|none --color-moved --minimal --patience --histogram ' +
  '--diff-algorithm=patience|minimal|histogram|myers -w -b --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol ' +
  '-M -M=# -C -C=# --[no-]find-renames --find-renames=# --find-copies --[no-]renames --diff-filter= -S= -G= --pickaxe-regex --pickaxe-all --relative --exit-code ' +
  '--quiet -z --full-index --[no-]abbrev --abbrev=# --inter-hunk-context=# -W --function-context --no-ext-diff --no-textconv --no-prefix ' +
  '--submodule --submodule=log|short|diff --ignore-submodules -R --text -a';
/** Which commits, and how they are shown. Left out: `--show-signature` and `%G`, for which Git starts a program. */
const commits =
  '--oneline --graph --[no-]decorate --decorate=short|full|auto|no --all --branches --tags --remotes --follow -n=# -# --max-count=# --skip=# --since= --until= --after= ' +
  '--before= --author= --committer= --grep= -i -E -F -P --all-match --invert-grep --merges --no-merges --first-parent --reverse --date= --format=<format> ' +
  '--pretty --pretty=<format> --[no-]abbrev-commit --topo-order --date-order --author-date-order --cherry-pick --cherry-mark --cherry --left-right --left-only --right-only ' +
  '--boundary --simplify-by-decoration --full-history --ancestry-path -L=<range> --source --walk-reflogs -g --count --not';
const before = '--no-pager -P --no-optional-locks --literal-pathspecs';

const looks = (command: string, options: string, more: Partial<Row> & Pick<Row, 'yes' | 'no'>): Row => ({
  command: `git ${command}`,
  kind: 'looks',
  why: 'It shows what Git has recorded. Options that write a file or start a program are asked about.',
  before,
  options,
  ...more,
});

export const gitRows: readonly Row[] = [
  looks(
    'status',
    '-s --short -b --branch -u -u=no|normal|all --untracked-files --untracked-files=no|normal|all --porcelain --porcelain=v1|v2|1|2 --long -v --verbose --ignored --ignored=traditional|no|matching --[no-]renames --[no-]ahead-behind --show-stash -z --column',
    {
      operands: 'paths',
      yes: ['git status', 'git status -sb', 'git --no-pager status --porcelain=v2 src'],
      no: ['git status ../../x', 'git -C .. status', 'git -c core.fsmonitor=./evil.sh status'],
    },
  ),
  looks('log', `${differences} ${commits}`, {
    operands: 'revisions',
    yes: [
      'git log',
      'git log --oneline -10',
      'git log -p -3 --follow -- src/a.ts',
      'git log main..HEAD',
      'git log --since=midnight --author="a b" --stat',
    ],
    no: [
      'git log --output=/x',
      'git log -1 --show-signature',
      'git log --format=%G?',
      'git log --ext-diff',
      'git log -O/x',
    ],
  }),
  looks('diff', `${differences} --cached --staged --merge-base --check`, {
    operands: 'revisions',
    yes: [
      'git diff',
      'git diff --stat main...HEAD -- src',
      "git diff HEAD -- '*.snap'",
      "git diff -- src ':!*_test.go' ':(exclude)*.snap'",
      'git diff -U8 src/a.ts',
      'git diff -w HEAD~1',
    ],
    no: [
      'git diff --no-index /dev/null /etc/passwd',
      'git diff /dev/null /etc/passwd',
      'git diff --output=x',
      'git diff ../x',
      'git diff HEAD:.env',
      'git diff :0:.env',
      "git diff HEAD -- '.en?'",
      "git diff HEAD -- ':(icase).ENV'",
      "git diff HEAD -- ':/.env'",
    ],
  }),
  looks('show', `${differences} ${commits}`, {
    operands: 'revisions',
    yes: ['git show', 'git show HEAD~2:src/a.ts', 'git show --stat HEAD', 'git show main:README.md'],
    no: ['git show --show-signature', 'git show HEAD:.env', 'git show --textconv HEAD:src/a.ts'],
  }),
  looks(
    'blame',
    '-L= -w -M -C -s -l -e -f -n -p -t --porcelain --line-porcelain --date= --since= --root --abbrev=# --show-name --show-email --show-number --color-lines --first-parent --reverse',
    {
      operands: 'revisions',
      yes: ['git blame -L 48,70 --date=short src/a.ts'],
      no: ['git blame --contents /etc/passwd src/a.ts', 'git blame --ignore-revs-file=/x src/a.ts'],
    },
  ),
  looks(
    'branch',
    '--show-current -a -r -v -vv --list --all --remotes --merged --no-merged --merged= --contains= --no-contains= --points-at= --sort=<sort> --format=<format> --verbose --[no-]color --column',
    {
      yes: ['git branch', 'git branch --show-current', 'git branch -avv --sort=-committerdate'],
      no: [
        'git branch -D main',
        'git branch new',
        'git branch -m a b',
        'git branch --edit-description',
        'git branch -u origin/main',
        'git branch --sort=signature:key',
        'git branch --format=%(signature)',
      ],
    },
  ),
  looks('tag', '-l --list -n -n=# --sort=<sort> --contains= --no-contains= --points-at= --merged --format=<format>', {
    operands: 'text',
    needs: ['-l', '--list'],
    yes: ["git tag -l 'v1.*'", 'git tag --list --sort=-creatordate'],
    no: ['git tag v1', 'git tag -d v1', 'git tag -v v1'],
  }),
  looks('tag', '', { yes: ['git tag'], no: ['git tag v1'] }),
  looks('remote', '-v --verbose', { yes: ['git remote -v'], no: ['git remote add x y', 'git remote show origin'] }),
  looks('remote get-url', '--all --push', {
    operands: 'names',
    most: 1,
    yes: ['git remote get-url origin'],
    no: ['git remote set-url origin x'],
  }),
  looks('stash list', '-p --stat --oneline --format=<format> --date= -n=# -#', {
    yes: ['git stash list --stat'],
    no: ['git stash clear', 'git stash drop', 'git stash list --output=x'],
  }),
  looks('stash show', differences, {
    operands: /^(stash@\{\d+\}|\d+)$/,
    most: 1,
    yes: ['git stash show -p stash@{0}'],
    no: ['git stash show --output=x', 'git stash pop'],
  }),
  looks('worktree list', '-v --porcelain -z', {
    yes: ['git worktree list'],
    no: ['git worktree remove --force ../x', 'git worktree add ../x'],
  }),
  looks(
    'rev-parse',
    '--short --short=# --abbrev-ref --abbrev-ref=strict|loose --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --is-inside-work-tree --is-bare-repository --verify -q --quiet --symbolic-full-name --symbolic --all --branches --tags --show-superproject-working-tree --show-object-format',
    {
      operands: 'revisions',
      yes: ['git rev-parse --abbrev-ref HEAD', 'git rev-parse --short=8 HEAD', "git rev-parse --abbrev-ref '@{u}'"],
      no: ['git rev-parse --resolve-git-dir /x', 'git rev-parse --sq-quote x'],
    },
  ),
  looks('rev-list', commits, {
    operands: 'revisions',
    yes: ['git rev-list --count main..HEAD'],
    no: ['git rev-list --use-bitmap-index HEAD', 'git rev-list --stdin'],
  }),
  looks(
    'ls-files',
    '-c -m -o -d -s -u -z -t -i --cached --modified --others --deleted --stage --unmerged --ignored --exclude-standard --error-unmatch --full-name --directory --exclude= -x=',
    {
      operands: 'paths',
      yes: ["git ls-files -m --others --exclude-standard '*.ts'"],
      no: ['git ls-files --exclude-from=/etc/passwd -i -o', 'git ls-files -X /x -o'],
    },
  ),
  looks('ls-tree', '-r -t -d -l -z --name-only --name-status --long --full-name --full-tree --abbrev=#', {
    operands: 'revisions',
    yes: ['git ls-tree -r --name-only HEAD src'],
    no: ['git ls-tree --format=%x HEAD'],
  }),
  looks('cat-file', '-p -t -s -e', {
    operands: 'revisions',
    most: 2,
    yes: ['git cat-file -p HEAD'],
    no: ['git cat-file --textconv HEAD:src/a.ts', 'git cat-file --filters HEAD:src/a.ts', 'git cat-file -p HEAD:.env'],
  }),
  looks('shortlog', `-s -n -e ${commits}`, {
    operands: 'revisions',
    least: 1,
    yes: ['git shortlog -sn HEAD'],
    no: ['git shortlog --output=x HEAD'],
  }),
  looks(
    'describe',
    '--tags --all --always --long --dirty --abbrev=# --match= --exclude= --exact-match --contains --first-parent',
    { operands: 'revisions', yes: ['git describe --tags --always --dirty'], no: ['git describe --broken --x'] },
  ),
  looks('merge-base', '-a --all --is-ancestor --fork-point --octopus --independent', {
    operands: 'revisions',
    yes: ['git merge-base main HEAD'],
    no: ['git merge-base --x main'],
  }),
  looks('name-rev', '--name-only --tags --refs= --always', {
    operands: 'revisions',
    yes: ['git name-rev --name-only HEAD'],
    no: ['git name-rev --stdin'],
  }),
  looks('show-ref', '--head --heads --tags --branches -s --hash --verify -q --abbrev', {
    operands: 'names',
    yes: ['git show-ref --heads'],
    no: ['git show-ref --exclude-existing'],
  }),
  looks('for-each-ref', '--count=# --sort=<sort> --format=<format> --contains= --merged= --no-merged= --points-at=', {
    operands: 'names',
    yes: ["git for-each-ref --format='%(refname:short)' refs/heads"],
    no: [
      'git for-each-ref --shell',
      'git for-each-ref --stdin',
      'git for-each-ref --sort=-signature',
      "git for-each-ref --format='%(*signature:grade)'",
    ],
  }),
  looks('diff-tree', `${differences} -r -t --root --no-commit-id -m -c --cc --always`, {
    operands: 'revisions',
    yes: ['git diff-tree --no-commit-id --name-only -r HEAD'],
    no: ['git diff-tree --stdin', 'git diff-tree --output=x HEAD'],
  }),
  looks('range-diff', `${differences} --creation-factor=# --no-dual-color --left-only --right-only`, {
    operands: 'revisions',
    yes: ['git range-diff main...HEAD'],
    no: ['git range-diff --output=x main...HEAD'],
  }),
  looks('cherry', '-v --abbrev=#', {
    operands: 'revisions',
    yes: ['git cherry -v main'],
    no: ['git cherry-pick main'],
  }),
  looks('reflog', `${commits} --stat -p`, {
    yes: ['git reflog -10'],
    no: ['git reflog expire --all', 'git reflog delete HEAD@{1}'],
  }),
  looks('reflog show', `${commits} --stat -p`, {
    operands: 'revisions',
    yes: ['git reflog show main -5'],
    no: ['git reflog show --output=x'],
  }),
  looks(
    'grep',
    '-n -i -w -l -L -c -E -F -G -P -h -H -v -o -q -z -W -p -e= -A=# -B=# -C=# -m=# --line-number --ignore-case --word-regexp --files-with-matches --count --extended-regexp --fixed-strings --perl-regexp --cached --name-only --break --heading --all-match --and --or --not --max-depth=# --context=# --after-context=# --before-context=# --show-function --function-context --only-matching --quiet --[no-]color --color= --full-name',
    {
      operands: 'revisions',
      yes: ['git grep -n foo', "git grep -nE 'a|b' HEAD -- src"],
      no: [
        "git grep -O'touch X' foo",
        'git grep --open-files-in-pager=evil foo',
        'git grep --no-index foo /etc',
        'git grep -f /etc/passwd',
        'git grep --untracked KEY',
        'git grep --textconv foo',
      ],
    },
  ),
  looks('config', '--get', {
    operands:
      /^(user\.(name|email)|core\.(autocrlf|editor|ignorecase|filemode)|init\.defaultbranch|pull\.rebase|branch\.[\w/.-]+\.(remote|merge))$/i,
    most: 1,
    least: 1,
    yes: ['git config user.name', 'git config --get user.email'],
    no: [
      'git config user.name x',
      'git config user.name --',
      'git config core.hooksPath evil',
      'git config --list',
      'git config --get http.extraheader',
    ],
  }),
  looks('check-ignore', '-v --verbose -n --non-matching --no-index -q', {
    operands: 'paths',
    least: 1,
    yes: ['git check-ignore -v dist/a.js'],
    no: ['git check-ignore --stdin'],
  }),
  looks('count-objects', '-v -H --verbose --human-readable', { yes: ['git count-objects -vH'], no: ['git gc'] }),
];
