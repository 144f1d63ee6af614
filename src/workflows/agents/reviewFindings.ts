import { chatWorkflowId, reviewAgent } from '../../protocol/content/agents.ts';
import type { Run } from '../../protocol/run/run.ts';
import { fitText } from '../../protocol/text/shorten.ts';

type FindingSeverity = 'error' | 'warning' | 'note';

/** Problem in the answer of a reviewer. Lines begin at 1; without `line` the finding is about the file. All texts are data of a model. */
export interface ReviewFinding {
  path: string;
  line?: number;
  endLine?: number;
  severity: FindingSeverity;
  text: string;
}

/** Findings of an answer in their order. `unreadable`: items without a usable path; `omitted`: findings above the limit. */
interface ReviewFindings {
  findings: ReviewFinding[];
  unreadable: number;
  omitted: number;
}

/** Newest review of a run. `index` is the position of its message, `model` the id of its model. */
export interface RunReview extends ReviewFindings {
  index: number;
  model: string;
}

const maxFindings = 100;
const maxTextLength = 2000;
/** Maximum characters of a line that may hold a finding, and of an answer; a longer one is read up to there. */
const [maxLineLength, maxAnswerLength] = [8000, 500_000];

const severities: Readonly<Record<FindingSeverity, string>> = {
  error: 'error|bug|critical|blocker|severe|major|high',
  warning: 'warning|warn|medium|moderate',
  note: 'note|info|minor|low|nit|suggestion|hint',
};
const severityWord = Object.values(severities).join('|');

const listMarker = /^\s*(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+/;
const decoration = '[*_`\\s]*';
const separator = '(?::|,|-|–|—)';
const bracketed = `[[(]?(${severityWord})[\\])]?`;
const leadingSeverity = new RegExp(`^${decoration}${bracketed}${decoration}(?:${separator}|(?<=[\\])]))[*_\\s]*`, 'i');
const followingSeverity = new RegExp(`^${decoration}${separator}?${decoration}${bracketed}(?![\\w-])`, 'i');
/** End of the marks of a severity; marks of the text itself stay. */
const beforeText = new RegExp(`^(?:${decoration}${separator}(?:[*_]*\\s+)?|[*_]*\\s+)?`);
const hasSeparator = new RegExp(`^${decoration}${separator}`);

const link = /^[*_`\s]*\[([^\]\n]{1,500})\]\(<?([^)>\n]{1,500})>?\)/;
const codeSpan = /^[*_\s]*`([^`\n]{1,500})`/;
const plainLocation =
  /^[*_\s]*([^\s`*[\]()<>"|:#]{1,400}(?:(?::|#L)\d{1,7}(?:C\d{1,6})?(?:[-–]L?\d{1,7}(?:C\d{1,6})?)?(?::\d{1,6})?)?)(?=[\s:,–—*_]|$)/;
const location =
  /^(?<path>[^:#\n]{1,400}?)(?:(?::|#L)(?<line>\d{1,7})(?:C\d{1,6})?(?:[-–]L?(?<end>\d{1,7})(?:C\d{1,6})?)?(?::\d{1,6})?)?$/;
const spelledLine = /^[*_`\s,]*\(?(?:lines?|L)\s*(\d{1,7})(?:\s*[-–]\s*(\d{1,7}))?\)?/i;
/** A severity in the form of the instructions, behind something that is no path. */
const severityInside = /[:([]\s*(?:error|warning|note)[*_`)\]]*\s*:/i;
const isPathLike = (path: string) => /[/\\]|.\.\w{1,10}$/.test(path);

interface Location {
  path: string;
  line?: number;
  endLine?: number;
}

/**
 * Parses the list at the end of a reviewer's answer: an item of a list, or a line, with a location, a severity and a text, in the forms that
 * models write. A severity without a location is unreadable. Other text is not a finding.
 */
export function parseReviewFindings(answer: string): ReviewFindings {
  const findings: ReviewFinding[] = [];
  const counts = { unreadable: 0, omitted: 0 };
  let open: ReviewFinding | undefined;
  for (const line of answer.slice(0, maxAnswerLength).split(/\r?\n/)) {
    const item = readItem(line.slice(0, maxLineLength));
    if (item === undefined) {
      open = continued(open, line);
      continue;
    }
    open = undefined;
    if (item === 'unreadable') counts.unreadable++;
    else if (findings.length >= maxFindings) counts.omitted++;
    else {
      findings.push(item);
      open = item;
    }
  }
  for (const finding of findings) finding.text = fitText(finding.text, maxTextLength);
  return { findings, ...counts };
}

export const isReviewRun = ({ workflowId, agentId }: Pick<Run, 'workflowId' | 'agentId'>): boolean =>
  workflowId === chatWorkflowId && agentId === reviewAgent;

/** Returns the newest review of a run of the reviewer; an answer without findings, such as an explanation, does not replace it. */
export function reviewOfRun(run: Run): RunReview | undefined {
  if (!isReviewRun(run)) return undefined;
  const { messages, models = [] } = run;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]!;
    if (message.role !== 'assistant' || message.toolCalls?.length) continue;
    const review = parseReviewFindings(message.content);
    if (review.findings.length + review.unreadable === 0) continue;
    return { ...review, index, model: models.findLast(({ at }) => at <= index)?.model ?? '' };
  }
  return undefined;
}

/** Adds an indented line to the finding above. */
function continued(open: ReviewFinding | undefined, line: string): ReviewFinding | undefined {
  if (!open || !/^(?: {2,}|\t)\s*\S/.test(line)) return undefined;
  if (open.text.length < maxTextLength) open.text = `${open.text}\n${line.trim()}`.trim();
  return open;
}

function readItem(line: string): ReviewFinding | 'unreadable' | undefined {
  const [marker] = listMarker.exec(line) ?? [];
  const item = marker === undefined ? line : line.slice(marker.length);
  const [head, first] = leadingSeverity.exec(item) ?? [];
  const found = readLocation(head === undefined ? item : item.slice(head.length));
  if (!found) {
    const isFinding = first !== undefined || severityInside.test(item);
    return isFinding && marker !== undefined ? 'unreadable' : undefined;
  }
  const [at, rest] = found;
  const [next, second] = (first === undefined && followingSeverity.exec(rest)) || [];
  const named = first ?? second;
  const isCertain = named !== undefined || (marker !== undefined && at.line !== undefined && hasSeparator.test(rest));
  if (!isCertain) return undefined;
  const text = rest.slice(next?.length ?? 0).replace(beforeText, '');
  return { ...at, severity: severityOf(named), text: text.trim() };
}

/** Reads a location at the start of a text, and returns the text behind it. */
function readLocation(text: string): [Location, rest: string] | undefined {
  const [linked, label, href] = link.exec(text) ?? [];
  const [quoted, code] = codeSpan.exec(text) ?? [];
  const [plain, word] = plainLocation.exec(text) ?? [];
  const match = linked ?? quoted ?? plain;
  if (match === undefined) return undefined;
  const rest = text.slice(match.length);
  const named = parseLocation((label ?? code ?? word)!);
  const at = named?.line === undefined && href !== undefined ? (parseLocation(decoded(href)) ?? named) : named;
  if (!at) return undefined;
  if (at.line !== undefined) return [at, rest];
  if (!isPathLike(at.path)) return undefined;
  const [spelled, from, to] = spelledLine.exec(rest) ?? [];
  return spelled === undefined ? [at, rest] : [{ ...at, ...lines(from, to) }, rest.slice(spelled.length)];
}

function parseLocation(text: string): Location | undefined {
  const { path, line, end } = location.exec(text.replace(/[*_`]+$|^[*_`]+/g, '').trim())?.groups ?? {};
  return path === undefined ? undefined : { path, ...lines(line, end) };
}

function lines(from: string | undefined, to: string | undefined): Pick<Location, 'line' | 'endLine'> {
  const [line, endLine] = [Number(from ?? 0), Number(to ?? 0)];
  if (line < 1) return {};
  return { line, ...(endLine > line && { endLine }) };
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href; // invalid percent encoding
  }
}

function severityOf(word: string | undefined): FindingSeverity {
  const named = word?.toLowerCase() ?? '';
  const names = Object.keys(severities) as FindingSeverity[];
  return names.find((name) => severities[name].split('|').includes(named)) ?? 'warning';
}
