import type { Attachment, Message, ToolCall } from '../content/messages.ts';
import { escapeInvisibleInLine, escapeInvisibleInProseLine } from '../text/escapeInvisible.ts';
import { sortedDictionaryEntries } from '../values/dictionary.ts';
import { type Run, runTitle } from './run.ts';
import { callWithCorrectedArguments } from './understoodArguments.ts';

/**
 * Renders a run as Markdown for publication: its messages and those of its tasks, and one line per call. Omits tool output, thinking and
 * system messages. `hide` removes keys and home folders.
 */
export function runToMarkdown(run: Run, hide: (text: string) => string): string {
  const { damage, graph } = run;
  const until = damage?.[0]?.at ?? run.messages.length;
  const results = resultsIn(run.messages);
  const models = [...new Set(run.models?.map(({ model }) => model) ?? [])];
  const facts = [dateOf(run.createdAt), ...models.map(code), ...(run.workflowId === 'chat' ? [] : [run.workflowId])];
  const parts = [
    `# ${escaped(escapeInvisibleInProseLine(hide(runTitle(run))))}`,
    `*${facts.filter(Boolean).join(' · ')}*`,
    ...partsOf(run.messages.slice(0, until), run, results, hide),
    ...(graph ? sortedDictionaryEntries(graph.branches) : []).flatMap(([name, { messages = [] }]) => [
      ...(messages.length > 0 ? [`## ${escaped(escapeInvisibleInProseLine(hide(name)))}`] : []),
      ...partsOf(messages, run, resultsIn(messages), hide),
    ]),
    ...(run.tasks ? sortedDictionaryEntries(run.tasks) : []).flatMap(([id, { name, title, messages }]) => [
      `## ${escaped(escapeInvisibleInProseLine(hide(`${name}: ${title}`)))}`,
      ...partsOf(messages, run, resultsIn(messages), hide, `${id}:`),
    ]),
    ...(damage ? ['*What came after this is damaged.*'] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

function partsOf(
  messages: readonly Message[],
  { calls: states }: Run,
  results: Results,
  hide: (text: string) => string,
  callPrefix = '',
): string[] {
  return messages.flatMap((message): string[] => {
    switch (message.role) {
      case 'user':
        return [
          quoted([...linesOf(hide(message.content)), ...(message.attachments ?? []).map((one) => fileLine(one, hide))]),
        ];
      case 'assistant': {
        const calls = (message.toolCalls ?? []).map((call) =>
          callLine(callWithCorrectedArguments(call, states[callPrefix + call.id]), results.get(call.id), hide),
        );
        const text = closed(hide(message.content).trim());
        const trimmed = `${text}${message.incomplete ? ' …' : ''}`.trim();
        return [...(trimmed ? [trimmed] : []), ...(calls.length > 0 ? [calls.join('\n')] : [])];
      }
      default:
        return [];
    }
  });
}

type Results = ReadonlyMap<string, string | undefined>;

const resultsIn = (messages: readonly Message[]): Results =>
  new Map(
    messages.flatMap((message) =>
      message.role === 'tool' ? message.toolResults.map(({ toolCallId, error }) => [toolCallId, error] as const) : [],
    ),
  );

const linesOf = (text: string): string[] => (text.trim() ? closed(text.trim()).split('\n') : []);
const quoted = (lines: readonly string[]): string => lines.map((line) => `> ${line}`.trimEnd()).join('\n');

const fileLine = ({ name, mediaType }: Attachment, hide: (text: string) => string): string =>
  `*(${escaped(escapeInvisibleInProseLine(hide(name ?? mediaType)))})*`;

const abouts = ['command', 'path', 'url', 'pattern', 'query', 'from', 'to', 'folder', 'name'];
const maxText = 200;

function callLine(
  { name, arguments: given }: ToolCall,
  error: string | undefined,
  hide: (text: string) => string,
): string {
  const subjects = abouts.flatMap((one) => {
    const value = Object.hasOwn(given, one) ? given[one] : undefined;
    return typeof value === 'string' && value.trim() ? [code(cut(hide(value)))] : [];
  });
  const end =
    error === undefined ? '' : error === 'TOOL_DENIED' ? ': not allowed' : `: failed (${escapeInvisibleInLine(error)})`;
  return `- ${[code(hide(name)), ...subjects].join(' ')}${end}`;
}

function cut(text: string): string {
  const line = escapeInvisibleInLine(text);
  const characters = [...line];
  return characters.length > maxText ? `${characters.slice(0, maxText).join('')}…` : line;
}

function code(text: string): string {
  const line = escapeInvisibleInLine(text);
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  const space = longest > 0 ? ' ' : '';
  return `${fence}${space}${line}${space}${fence}`;
}

function closed(text: string): string {
  let open: string | undefined;
  for (const [, fence] of text.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)) {
    if (open === undefined) open = fence!;
    else if (fence![0] === open[0] && fence!.length >= open.length) open = undefined;
  }
  return open === undefined ? text : `${text}\n${open}`;
}

const escaped = (text: string): string => text.replace(/[\\`*_[\]<>#]/g, '\\$&');

const dateOf = (at: number): string => {
  const date = new Date(at);
  return at > 0 && !Number.isNaN(date.getTime()) ? date.toISOString().slice(0, 10) : '';
};
