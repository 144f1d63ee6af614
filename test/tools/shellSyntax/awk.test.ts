import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { isReadOnlyAwkProgram } from '../../../src/tools/shellSyntax/awk.ts';
import { tries } from '../../support/tries.ts';

const reads = [
  '{print $1}',
  'NR>=10 && NR<=20',
  '/^## /{f=1} f',
  '$3 > 100 {print $1, $3}',
  'NR>1 {m+=$8; c+=$9} END {print c, m+c}',
  '{c[$1]++} END {for (k in c) print c[k], k}',
  '{ if ($2 > most) most = $2 } END { printf "%.2f\\n", most / NR }',
  '{print (a > b)}',
  'length($0) > 120 {print FILENAME": "FNR}',
  '{gsub(/"[^"]*"/, ""); print toupper(substr($0, 1, 5))}',
  'BEGIN{FS=","} !/^#/ && $2 ~ "x|y" {for (i=1; i<=NF; i++) s += $i / 2} END {print s}',
];
const mayDoMore = [
  '',
  'BEGIN{system("touch PWNED")}',
  '{print > "PWNED"}',
  '{print $1 >> "PWNED"}',
  '{print(a) > "PWNED"}',
  '{print a,\n b > "PWNED"}',
  '{print a; print b > "PWNED"}',
  '{if (a) print b; else print c > "PWNED"}',
  '{print | "sh"}',
  '{print |& "sh"}',
  '"id" | getline x',
  '{getline x < "/etc/passwd"; print x}',
  '{print ENVIRON["HOME"]}',
  'BEGIN{ARGV[1]="/etc/passwd"; ARGC=2} 1',
  '@include "evil"',
  'BEGIN{f="system"; @f("touch PWNED")}',
  'BEGIN{x = SYMTAB["ENVIRON"]}',
  '{if (x) /"/; system("touch PWNED"); /"/}',
  'BEGIN{print /"/ > "PWNED"}',
  '{x++ /"/; system("touch PWNED") ;/"/}',
  '/[/]"/ {system("touch PWNED")} /"/',
  'BEGIN{while(1) a[i++]=1}',
  '{close("x")}',
  'function f(x) {return system(x)} {f("touch PWNED")}',
  'BEGIN { print\\\n > "PWNED" }',
];

describe('a program of awk', () => {
  for (const program of reads) it(`only reads: ${program}`, () => assert.equal(isReadOnlyAwkProgram(program), true));
  for (const program of mayDoMore)
    it(`may do more: ${JSON.stringify(program)}`, () => assert.equal(isReadOnlyAwkProgram(program), false));

  it('that is known to only read makes no file and starts nothing, whatever it is made of', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'towpath-awk-'));
    try {
      writeFileSync(path.join(folder, 'in.txt'), 'a b c\n1 2 3\n"x" / y\n');
      const piece = fc.constantFrom(
        ...[
          '{',
          '}',
          '(',
          ')',
          ';',
          '\n',
          ' ',
          ',',
          '/',
          '"',
          '\\',
          '>',
          '>>',
          '<',
          '|',
          '||',
          '&&',
          '!',
          '~',
          '=',
          '+',
          '-',
          '++',
          '#',
          '[',
          ']',
          '$',
        ],
        ...[
          'print ',
          'printf ',
          'if (x) ',
          'else ',
          'a',
          '$1',
          '1',
          'NR',
          '"b"',
          '/c/',
          'BEGIN',
          'END',
          'in ',
          'for (k in c) ',
          'delete c',
          'next',
          '? 1 : 2',
        ],
        ...[
          '"PWNED"',
          '> "PWNED"',
          '"touch PWNED"',
          'system("touch PWNED")',
          '| "touch PWNED"',
          'getline',
          'length',
          'substr($0,1)',
        ],
      );
      const programs = fc.sample(fc.array(piece, { minLength: 1, maxLength: 14 }), {
        numRuns: tries(14_000, 40_000),
        seed: 11,
      });
      const read = [...new Set(programs.map((pieces) => pieces.join('')))]
        .filter(isReadOnlyAwkProgram)
        .slice(0, tries(120, 400));
      assert.ok(read.length > tries(100, 300), `${read.length} are known to only read`);
      for (const program of read) {
        try {
          execFileSync('awk', [program, 'in.txt'], { cwd: folder, stdio: 'ignore', timeout: 10_000 });
        } catch {
          // most of them mean nothing
        }
        assert.deepEqual(readdirSync(folder), ['in.txt'], program);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
