import { counted } from '../../protocol/counted.ts';
import { visible, visibleLine } from '../../protocol/visible.ts';
import { type Hidden, redacted } from '../settings/redacted.ts';

export interface Finding {
  /** `fact`: neither good nor bad. */
  level: 'ok' | 'warning' | 'problem' | 'fact';
  /** A sentence; for what is not as it should be, with the way out. */
  text: string;
}

/** One thing that Doctor looks at. What it throws counts as a problem. */
export interface Check {
  title: string;
  run(signal: AbortSignal, progress: (text: string) => void): Promise<Finding[]>;
}

export interface Section {
  title: string;
  findings: Finding[];
}

/** All checks, one after the other: each may need the whole machine. Stopped: what was found until then. */
export async function runChecks(
  checks: readonly Check[],
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<Section[]> {
  const sections: Section[] = [];
  for (const { title, run } of checks) {
    if (signal.aborted) break;
    progress(title);
    const findings = await run(signal, (text) => progress(`${title}: ${text}`)).catch((error): Finding[] => [
      { level: 'problem', text: error instanceof Error ? error.message : String(error) },
    ]);
    sections.push({ title, findings });
  }
  return sections;
}

/** Markdown without keys and without the home folder's name: it can be shown to others. */
export function toReport(sections: readonly Section[], hide: Hidden): string {
  const all = sections.flatMap(({ findings }) => findings);
  const count = (level: Finding['level']) => {
    return counted(all.filter((finding) => finding.level === level).length, level);
  };
  const lines = [
    '# Towpath Doctor',
    '',
    `${count('problem')}, ${count('warning')}. No keys are in here, and \`~\` stands for your home folder.`,
    ...sections.flatMap(({ title, findings }) => [
      '',
      `## ${title}`,
      '',
      ...findings.map(({ level, text }) => `- ${marks[level]}${visibleLine(text)}`),
    ]),
    '',
  ];
  return redacted(visible(lines.join('\n')), hide);
}

const marks: Record<Finding['level'], string> = { ok: '✅ ', warning: '⚠️ ', problem: '❌ ', fact: '' };
