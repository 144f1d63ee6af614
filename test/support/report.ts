import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { binary } from './command.ts';
import { testOut } from './editor/project.ts';

/** The reporter of every mocha run: spec for people, JSON for `reportFile`. */
export const reporter = path.join(import.meta.dirname, 'reporter.cjs');

const safeDiffs = path.join(import.meta.dirname, 'safeDiffs.cjs');

/** Where the run of one part (`unit`, `host`, `e2e`) leaves its JSON report. */
export function reportFile(part: string): string {
  return path.join(testOut, 'reports', `${part}.json`);
}

/** Removes what an earlier run reported: it must not be taken for this one's. */
export function forgetReport(part: string): void {
  rmSync(reportFile(part), { force: true });
}

/** Mocha, reporting for one part. */
export function mochaArguments(part: string): string[] {
  const output = `output=${reportFile(part)}`;
  return [
    binary('mocha'),
    '--forbid-only',
    '--require',
    safeDiffs,
    '--reporter',
    reporter,
    '--reporter-option',
    output,
  ];
}

interface MochaTest {
  fullTitle: string;
  file: string;
}

interface MochaReport {
  stats: { passes: number; failures: number; pending: number };
  passes: MochaTest[];
  pending: MochaTest[];
  failures: (MochaTest & { err: { message?: string } })[];
}

export interface Counts {
  passed: number;
  failed: number;
  pending: number;
}

/** What a part's report says; undefined when the run ended before it could write one. */
export function readReport(part: string): Counts | undefined {
  const { stats } = parsed(part) ?? {};
  return stats && { passed: stats.passes, failed: stats.failures, pending: stats.pending };
}

/** The files in which something failed, and what it was: a line each. */
export function failuresOf(part: string): { files: string[]; failures: string[] } {
  const failures = parsed(part)?.failures ?? [];
  return {
    files: [...new Set(failures.map(({ file }) => file))],
    failures: failures.map(({ fullTitle, err }) => `${fullTitle}: ${(err.message ?? '').split('\n', 1)[0]}`),
  };
}

/** Puts what a second run said of some files in the place of what the first said of them. */
export function replaceInReport(part: string, again: string, files: string[]): void {
  const first = parsed(part);
  const second = parsed(again);
  if (!first || !second) return;
  const merged = (kind: 'passes' | 'pending' | 'failures') => [
    ...first[kind].filter(({ file }) => !files.includes(file)),
    ...second[kind],
  ];
  const [passes, pending, failures] = [merged('passes'), merged('pending'), merged('failures')];
  const stats = { passes: passes.length, pending: pending.length, failures: failures.length };
  writeFileSync(reportFile(part), JSON.stringify({ stats, passes, pending, failures }, null, 2));
}

function parsed(part: string): MochaReport | undefined {
  const file = reportFile(part);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
