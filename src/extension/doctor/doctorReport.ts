import { redact } from '../../llm/redact.ts';
import { visible, visibleLine } from '../../protocol/visible.ts';

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
export function toReport(sections: readonly Section[], hide: { secrets: readonly string[]; home: string }): string {
  const all = sections.flatMap(({ findings }) => findings);
  const count = (level: Finding['level']) => {
    const { length } = all.filter((finding) => finding.level === level);
    return `${length} ${level}${length === 1 ? '' : 's'}`;
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
  return withoutHome(redact(visible(lines.join('\n')), hide.secrets), hide.home);
}

const marks: Record<Finding['level'], string> = { ok: '✅ ', warning: '⚠️ ', problem: '❌ ', fact: '' };

function withoutHome(text: string, home: string): string {
  if (home.length < 2) return text; // no home, or the root of everything
  const ways = [home, home.replaceAll('\\', '/'), encodeURI(home)];
  return ways.reduce((clean, way) => clean.replaceAll(way, '~'), text);
}
