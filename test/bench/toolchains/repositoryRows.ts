import type { ToolchainRow } from './row.ts';

const init = 'git init -q -b main && git config user.name Test && git config user.email test@example.org';
const commit = 'git add -A && git commit -qm first';

export const repositoryRows: readonly ToolchainRow[] = [
  {
    run: 'git commit',
    files: { 'a.txt': 'a\n' },
    prepare: init,
    first: 'git add -A && git commit -qm one && git log --oneline',
    second: 'echo b >> a.txt && git commit -qam two && git status -sb',
  },
  {
    run: 'git commit with a hook',
    files: { 'a.txt': 'a\n' },
    prepare: `${init} && printf '#!/bin/sh\\necho hook; touch ran\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit`,
    first: 'git add -A && git commit -qm one && test -f ran',
    second: 'rm ran; echo b >> a.txt && git commit -qam two && test -f ran',
  },
  {
    run: 'husky',
    files: {
      'package.json':
        '{ "name": "app", "private": true, "scripts": { "prepare": "husky" }, "devDependencies": { "husky": "^9.0.0" } }',
      '.husky/pre-commit': 'touch ran\n',
      '.gitignore': 'node_modules\n',
    },
    prepare: init,
    first: 'npm install && git add -A && git commit -qm one && test -f ran',
    second: 'rm -f ran; echo >> .gitignore && git commit -qam two && test -f ran',
  },
  {
    run: 'git commit -S',
    needs: ['gpg'],
    files: { 'a.txt': 'a\n' },
    prepare: init,
    first: 'git add -A && git commit -S -qm one',
    isOutside: true,
  },
  {
    run: 'git init in the sandbox',
    files: { 'a.txt': 'a\n' },
    first:
      'git init -q -b main new && cd new && git -c user.name=Test -c user.email=t@example.org commit -q --allow-empty -m one',
    second: 'git -C new log --oneline',
  },
  {
    run: 'git stash, rebase, merge',
    files: { 'a.txt': 'a\n' },
    prepare: `${init} && ${commit}`,
    first:
      'git switch -qc topic && echo t > t.txt && git add -A && git commit -qm topic && git switch -q main && echo m > m.txt && git add -A && git commit -qm main && git rebase -q main topic && echo x >> a.txt && git stash -q && git stash pop -q && git commit -qam x && git switch -q main && git merge -q --no-edit topic',
    second:
      'git switch -q topic && echo y >> a.txt && git commit --amend -qa --no-edit && git reset -q --hard HEAD~1 && git gc -q && git fsck',
  },
  {
    run: 'git worktree',
    files: { 'a.txt': 'a\n' },
    prepare: `${init} && ${commit}`,
    first: 'git worktree add -q wt -b wt && cd wt && echo b > b.txt && git add -A && git commit -qm wt',
    second: 'cd wt && git log --oneline && cd .. && git worktree remove --force wt',
  },
  {
    run: 'git submodule, local',
    isOutside: true,
    files: { 'a.txt': 'a\n' },
    prepare: `mkdir other && cd other && ${init} && git commit -q --allow-empty -m o && cd .. && ${init}`,
    first: 'git -c protocol.file.allow=always submodule add -q ./other sub && git commit -qm sub',
    second: 'git submodule status && cd sub && git log --oneline',
  },
  {
    run: 'git config of the repository',
    files: { 'a.txt': 'a\n' },
    prepare: init,
    first: 'git config user.name Other',
    second: 'git config user.name | grep Other',
  },
  {
    run: 'git bisect, tag, cherry-pick, clean',
    files: { 'a.txt': 'a\n' },
    prepare: `${init} && ${commit} && echo b >> a.txt && git commit -qam two && echo c >> a.txt && git commit -qam three`,
    first:
      'git bisect start HEAD HEAD~2 && git bisect run sh -c "! grep -q c a.txt" && git bisect reset && git tag -f v1 && touch junk && git clean -fdq',
    second:
      'git switch -qC pick HEAD~2 && git cherry-pick main~1 && git switch -q main && git worktree prune && git branch -D pick',
  },
];
