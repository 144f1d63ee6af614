import { escapeInvisible, escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, localizedCount, message, t, toEnglishText } from '../../protocol/text/l10n.ts';
import { redactForReport, type ValuesToRedact } from '../settings/redactSettings.ts';

/**
 * Finding of a check. `fact` is neutral; `text` is a sentence in the user's language, with a remedy for problems; `english` is the English
 * form, if different.
 */
export interface DoctorFinding {
  level: 'ok' | 'warning' | 'problem' | 'fact';
  text: string;
  english?: string;
}

/** @param statement a message, or literal text from a server or the system */
export function createDoctorFinding(
  level: DoctorFinding['level'],
  statement: LocalizedMessage | string,
): DoctorFinding {
  if (typeof statement === 'string') return { level, text: statement };
  const [text, english] = [t(statement), toEnglishText(statement)];
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
export async function runDoctorChecks(
  checks: readonly DoctorCheck[],
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<ReportSection[]> {
  const sections: ReportSection[] = [];
  for (const { title, run } of checks) {
    if (signal.aborted) break;
    const heading = typeof title === 'string' ? title : t(title);
    progress(heading);
    const findings = await run(signal, (text) => progress(`${heading}: ${text}`)).catch((error): DoctorFinding[] => [
      { level: 'problem', text: error instanceof Error ? error.message : String(error) },
    ]);
    sections.push({ title, findings });
  }
  return sections;
}

/** Renders shareable Markdown, without keys and without the name of the home folder. `language`: for the user, or for a log. */
export function toDoctorReport(
  sections: readonly ReportSection[],
  hide: ValuesToRedact,
  language: 'user' | 'english' = 'user',
): string {
  const all = sections.flatMap(({ findings }) => findings);
  const count = (level: 'problem' | 'warning') =>
    localizedCount(all.filter((finding) => finding.level === level).length, level);
  const localized = (statement: LocalizedMessage | string) =>
    typeof statement === 'string' ? statement : language === 'user' ? t(statement) : toEnglishText(statement);
  const where = (level: 'problem' | 'warning') => {
    const those = sections.filter(({ findings }) => findings.some((finding) => finding.level === level));
    return those.length > 0 ? [`- ${marks[level]}${those.map(({ title }) => localized(title)).join(', ')}`] : [];
  };
  const ordered = [...where('problem'), ...where('warning')];
  const lines = [
    `# ${localized(message('Towpath Doctor'))}`,
    '',
    localized(
      message(
        '{0}, {1}. Keys are not included, and `~` stands for your home folder.',
        count('problem'),
        count('warning'),
      ),
    ),
    ...(ordered.length > 0 ? ['', ...ordered] : []),
    ...sections.flatMap(({ title, findings }) => [
      '',
      `## ${localized(title)}`,
      '',
      ...findings.map(
        ({ level, text, english }) =>
          `- ${marks[level]}${escapeInvisibleInLine((language === 'english' ? english : undefined) ?? text)}`,
      ),
    ]),
    '',
  ];
  return redactForReport(escapeInvisible(lines.join('\n')), hide);
}

const marks: Record<DoctorFinding['level'], string> = { ok: '✅ ', warning: '⚠️ ', problem: '❌ ', fact: '' };
