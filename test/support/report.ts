import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { binary } from './command.ts';
import { testOut } from './editor/project.ts';

/** The reporter of every mocha run: spec for people, JSON for `reportFile`. */
export const reporter = path.join(import.meta.dirname, 'reporter.cjs');

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
  return [binary('mocha'), '--forbid-only', '--reporter', reporter, '--reporter-option', output];
}

/** What a part's report says; undefined when the run ended before it could write one. */
export function readReport(part: string): { passed: number; failed: number; pending: number } | undefined {
  const file = reportFile(part);
  if (!existsSync(file)) return undefined;
  const { passes, failures, pending } = JSON.parse(readFileSync(file, 'utf8')).stats;
  return { passed: passes, failed: failures, pending };
}
