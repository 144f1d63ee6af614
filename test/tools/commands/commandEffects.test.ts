import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import fc from 'fast-check';
import { judgeCommand } from '../../../src/tools/commands/judgeCommand.ts';
import { tries } from '../../support/tries.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

/** Random lines that are let through and run; a longer hunt: TOWPATH_COMMANDS=5000. */
const wanted = Number(process.env.TOWPATH_COMMANDS ?? tries(150, 1200));

/** Pieces that a careless judge would put together: harmless ones, and what makes them harmful. */
const programs =
  'ls cat head tail wc nl tac grep rg find stat du realpath cut uniq diff cmp od uname date sed sort tr echo pwd basename comm fold node git cd rev awk jq test [ printf sleep tree column paste hexdump ./ls touch tee xargs env'.split(
    ' ',
  );
const options =
  `-l -la -n -c -o -oPWNED -i -r -R -e -f -x -z -w -- --output=PWNED --version --help -20 -n5 -d: -k2 -t, -name -type -delete -exec -fprint -print -maxdepth --pre=./evil.sh -p '-nx' --line-number -A2 -C 1p 5,9p 'w|PWNED' '1w|PWNED' s/a/b/ s/a/b/wPWNED s/a/id/e 's,a,b,;w|PWNED' '/x/,/y/p' '{print|$1}' '{print>"PWNED"}' 'BEGIN{system("touch|PWNED")}' NR==2 .a input -F: -v ] +%Y -s -u`
    .split(' ')
    .map((option) => option.replaceAll('|', ' '));
const operands =
  `README.md src/a.ts src . .. link OUTSIDE ~ '*.ts' 'a|b' foo "c|d" '$(touch|PWNED)' '~touch|PWNED~' ';|touch|PWNED' nope evil.sh {} ';' src/*.ts s*c "$x" "$(touch|PWNED)" "$(ls)" <(ls) $((1)) $? PWNED - ../outside/secret.txt 2 1`
    .split(' ')
    .map((operand) => operand.replaceAll('|', ' ').replace(/^'~(.*)~'$/, "'`$1`'"));
const glue = [
  ' ',
  ' ',
  ' ',
  ' ',
  ' ',
  ' | ',
  ' && ',
  '; ',
  ' || ',
  ' > PWNED ',
  ' 2>/dev/null ',
  ' >/dev/null ',
  ' 2>&1 ',
  ' & ',
  ' $(touch PWNED) ',
  '\n',
  ' # ',
  '; x=PWNED; touch ',
  '; for x in a b; do ',
  '; done; ',
  '; PATH=. ',
  ' A=1 ',
  '; if ls; then ',
  '; fi; ',
  ' && ! ',
  ' ( ',
  ' ) ',
  ' >> PWNED ',
];

const command = fc
  .array(
    fc.tuple(
      fc.constantFrom(...glue),
      fc.constantFrom(...programs),
      fc.array(fc.oneof(fc.constantFrom(...options), fc.constantFrom(...operands)), { maxLength: 4 }),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) =>
    parts.map(([before, program, words], index) => (index ? before : '') + [program, ...words].join(' ')).join(''),
  );

describe('commands that run without a question', () => {
  let workspace: TemporaryWorkspace;
  before(async () => {
    const files = {
      'README.md': '# hi\nfoo\n',
      'src/a.ts': 'one\ntwo\nfoo bar\n',
      'src/b.ts': 'two\n',
      'evil.sh': '#!/bin/sh\ntouch PWNED\n',
    };
    workspace = await temporaryWorkspace({ ...files, '../outside/secret.txt': 'CANARY\n' });
    symlinkSync('../outside', paths.join(workspace.root, 'link'));
  });
  after(() => workspace.cleanup());

  const judged = (text: string): Promise<boolean> =>
    judgeCommand(workspace.roots, workspace.root, text).then(
      ({ reading }) => typeof reading !== 'string',
      () => false,
    );

  it(`${wanted} random ones, let through and then run in bash, change nothing`, async function () {
    this.timeout(900_000);
    const outer = paths.dirname(workspace.root);
    // What is let through runs for real: a judge that lets everything through must not get that far.
    for (const harmful of ['touch PWNED', 'tee README.md', 'ls > PWNED', 'find . -delete', 'env touch PWNED'])
      assert.equal(await judged(harmful), false, `${harmful} is let through`);
    const before = snapshot(outer);
    const allowed = new Set<string>();
    let tried = 0;
    for (let seed = 1; allowed.size < wanted; seed++)
      for (const text of fc.sample(command, { numRuns: 2000, seed })) {
        tried++;
        const whole = text.replaceAll('OUTSIDE', paths.join(outer, 'outside/secret.txt'));
        if (allowed.size < wanted && (await judged(whole))) allowed.add(whole);
      }
    // bash is the second opinion: what it makes of the text must be as harmless as what we made of it.
    const script = 'cd "$1" && shift && for text; do bash --norc -c "$text" </dev/null >/dev/null 2>&1; done; true';
    execFileSync('xargs', ['-0', '-n', '50', '-P', '4', 'bash', '--norc', '-c', script, 'bash', workspace.root], {
      input: [...allowed].join('\0'),
      env: { PATH: process.env.PATH, HOME: outer },
    });
    console.log(`      ${allowed.size} of ${tried} were let through`);
    assert.deepEqual(snapshot(outer), before);
  });
});

/** Every file below a folder, by what it holds. */
function snapshot(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    entries.map((name) => {
      const file = paths.join(folder, name);
      const stat = lstatSync(file);
      const what = stat.isSymbolicLink()
        ? readlinkSync(file)
        : stat.isDirectory()
          ? 'folder'
          : createHash('sha256').update(readFileSync(file)).digest('hex');
      return [name, `${what} ${stat.mode} ${stat.isDirectory() ? '' : stat.mtimeMs}`];
    }),
  );
}
