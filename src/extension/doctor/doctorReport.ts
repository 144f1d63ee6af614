import { escapeInvisible, escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, localizedCount, message, t, toEnglishText } from '../../protocol/text/l10n.ts';
import { type RedactedValues, redactForReport } from '../settings/redactSettings.ts';

/**
 * Finding of a check. `fact` is neutral; `text` is a sentence in the user's language, with a remedy for problems; `english` is the English
 * form, if different.
 */
export interface DoctorFinding {
  level: 'ok' | 'warning' | 'problem' | 'fact';
  text: string;
  english?: string;
}

/** @param words a message, or literal text from a server or the system */
export function createDoctorFinding(level: DoctorFinding['level'], words: LocalizedMessage | string): DoctorFinding {
  if (typeof words === 'string') return { level, text: words };
  const [text, english] = [t(words), toEnglishText(words)];
  return { level, text, ...(english !== text && { english }) };
}

/** Check of Doctor. An exception counts as a problem. */
export interface DoctorCheck {
  title: LocalizedMessage | string;
  run(signal: AbortSignal, progress: (text: string) => void): Promise<DoctorFinding[]>;
}

interface ReportSection {
  title: LocalizedMessage | string;
  findings: DoctorFinding[];
}

/** Runs all checks sequentially, because each may need the whole machine. An abort returns the findings so far. */
export async function runChecks(
  checks: readonly DoctorCheck[],
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<ReportSection[]> {
  const sections: ReportSection[] = [];
  for (const { title, run } of checks) {
    if (signal.aborted) break;
    const about = typeof title === 'string' ? title : t(title);
    progress(about);
    const findings = await run(signal, (text) => progress(`${about}: ${text}`)).catch((error): DoctorFinding[] => [
      { level: 'problem', text: error instanceof Error ? error.message : String(error) },
    ]);
    sections.push({ title, findings });
  }
  return sections;
}

/** Renders shareable Markdown, without keys and without the name of the home folder. `how`: for the user, or for a log. */
export function toDoctorReport(
  sections: readonly ReportSection[],
  hide: RedactedValues,
  how: 'told' | 'in English' = 'told',
): string {
  const all = sections.flatMap(({ findings }) => findings);
  const count = (level: 'problem' | 'warning') =>
    localizedCount(all.filter((finding) => finding.level === level).length, level);
  const inWords = (words: LocalizedMessage | string) =>
    typeof words === 'string' ? words : how === 'told' ? t(words) : toEnglishText(words);
  const where = (level: 'problem' | 'warning') => {
    const those = sections.filter(({ findings }) => findings.some((finding) => finding.level === level));
    return those.length > 0 ? [`- ${marks[level]}${those.map(({ title }) => inWords(title)).join(', ')}`] : [];
  };
  const places = [...where('problem'), ...where('warning')];
  const lines = [
    `# ${inWords(message('Towpath Doctor'))}`,
    '',
    inWords(
      message(
        '{0}, {1}. Keys are not included, and `~` stands for your home folder.',
        count('problem'),
        count('warning'),
      ),
    ),
    ...(places.length > 0 ? ['', ...places] : []),
    ...sections.flatMap(({ title, findings }) => [
      '',
      `## ${inWords(title)}`,
      '',
      ...findings.map(
        ({ level, text, english }) =>
          `- ${marks[level]}${escapeInvisibleInLine((how === 'in English' ? english : undefined) ?? text)}`,
      ),
    ]),
    '',
  ];
  return redactForReport(escapeInvisible(lines.join('\n')), hide);
}

const marks: Record<DoctorFinding['level'], string> = { ok: '✅ ', warning: '⚠️ ', problem: '❌ ', fact: '' };
