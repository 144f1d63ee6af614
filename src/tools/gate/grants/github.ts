import type { Row } from './row.ts';

export const githubRows: readonly Row[] = [
  ...[
    'gh pr list',
    'gh issue list',
    'gh workflow list',
    'gh release list',
    'gh pr status',
    'gh issue status',
    'gh label list',
  ].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: "It asks GitHub about this repository with the person's own access and changes nothing. Another repository or a browser is asked about.",
      options:
        '--json= -q=<jq> --jq=<jq> -t= --template= -L=# --limit=# -s=open|closed|merged|all|queued|completed|in_progress|failure|success --state=open|closed|merged|all --status=queued|completed|in_progress|failure|success -a= --author= --assignee= -A= -l= --label= -S= --search= -B= --base= -H= --head= -b= --branch= --workflow= -e= --event= -u= --user= --app= -m= --milestone= -d --draft --all',
      yes: [command, `${command} --json number --limit 5`],
      no: [
        `${command} -R other/repo`,
        `${command} --repo other/repo`,
        `${command} --web`,
        `${command} -w`,
        `${command} --json number --jq '$ENV.TOKEN'`,
        'gh pr merge 1',
        'gh api x',
      ],
    }),
  ),
  {
    command: 'gh run list',
    kind: 'asks',
    why: 'It asks GitHub for the latest runs of this repository.',
    options:
      '--json= -q=<jq> --jq=<jq> -t= --template= -L=# --limit=# -s=queued|completed|in_progress|failure|success --status=queued|completed|in_progress|failure|success -b= --branch= -w= --workflow= -e= --event= -u= --user= -c= --commit= -a --all',
    yes: ['gh run list --branch main --limit 5', 'gh run list -w ci.yml -L 3'],
    no: ['gh run list -R other/repo', 'gh run rerun 1', 'gh run cancel 1'],
  },
  ...[
    'gh pr view',
    'gh pr checks',
    'gh pr diff',
    'gh issue view',
    'gh run view',
    'gh workflow view',
    'gh release view',
    'gh repo view',
  ].map(
    (command): Row => ({
      command,
      kind: 'asks',
      why: "It asks GitHub about this repository with the person's own access and changes nothing. Another repository or a browser is asked about.",
      options:
        '--json= -q=<jq> --jq=<jq> -t= --template= -c --comments --log --log-failed -j= --job= -a=# --attempt=# --exit-status -v --verbose --name-only --patch --color=always|never|auto --required -y --yaml',
      operands: /^[\w.#-]+(\/[\w.-]+)*$/,
      most: command === 'gh repo view' ? 0 : 1,
      yes: [command, ...(command === 'gh repo view' ? [] : [`${command} 12`])],
      no: [
        `${command} -R other/repo`,
        `${command} --web`,
        `${command} -w`,
        `${command} https://github.com/other/repo/pull/1`,
        'gh pr comment 1 --body x',
        'gh run rerun 1',
      ],
    }),
  ),
  {
    command: 'gh api',
    kind: 'asks',
    why: "It reads what GitHub knows of this repository with the person's own access. Fields, other methods, other repositories and other places are asked about.",
    options: '-q=<jq> --jq=<jq> -X=GET --method=GET --paginate --slurp --cache=<time>',
    operands:
      /^\/?repos\/\{owner\}\/\{repo\}(?!.*\.\.)(?!\/(?:contents|git|tarball|zipball|secrets|keys|hooks|environments)(?:[/?]|$))(?!.*\/secrets)(\/[\w.-]+|\/\{branch\})*(\?[\w.=&%:+-]*)?$/,
    least: 1,
    most: 1,
    yes: [
      "gh api 'repos/{owner}/{repo}/pulls/341/comments' --jq '.[].body'",
      "gh api --paginate 'repos/{owner}/{repo}/actions/runs?per_page=5'",
    ],
    no: [
      'gh api repos/other/repo/pulls',
      "gh api 'repos/{owner}/{repo}/pulls' -f title=x",
      "gh api 'repos/{owner}/{repo}/pulls' -F body=@/etc/passwd",
      "gh api 'repos/{owner}/{repo}/issues/1' -X DELETE",
      "gh api 'repos/{owner}/{repo}/issues' --input x",
      "gh api 'repos/{owner}/{repo}/../../other'",
      "gh api 'repos/{owner}/{repo}' --hostname evil.example",
      "gh api 'repos/{owner}/{repo}' -H 'X: y'",
      "gh api 'repos/{owner}/{repo}/contents/.env'",
      "gh api 'repos/{owner}/{repo}/git/blobs/1'",
      "gh api 'repos/{owner}/{repo}/actions/secrets'",
      'gh api graphql',
      'gh api user',
    ],
  },
];
