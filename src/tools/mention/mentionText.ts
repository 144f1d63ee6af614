import { fenced, type MentionRead, type MentionReading } from './mentionLimits.ts';

export async function test(
  { name, text, path, line }: { name: string; text: string; path?: string; line?: number },
  left: number,
): Promise<MentionRead> {
  const where = path === undefined ? '' : `In ${path}${line === undefined ? '' : `:${line}`}.\n`;
  return fromText(`failed test: ${name}`, text, left, where, path === undefined ? {} : { path, ...(line && { line }) });
}

export async function terminal(
  { name, text }: { name?: string; text?: string },
  left: number,
  reading: MentionReading,
): Promise<MentionRead> {
  const given = text === undefined ? await reading.terminal() : { name, text };
  return fromText(`terminal${given.name ? `: ${given.name}` : ''}`, given.text, left);
}

/** Truncates at the start: the end of program output matters most. */
function fromText(name: string, text: string, left: number, before = '', told: MentionRead['told'] = {}): MentionRead {
  const isCut = text.length > left;
  const short = isCut ? text.slice(text.length - left).replace(/^[^\n]*\n/, '') : text;
  const empty = text.trim() === '';
  return {
    name,
    text: `${before}${empty ? '(It wrote nothing.)' : fenced(short)}${isCut ? '\n(Its beginning did not fit.)' : ''}`,
    told: { ...told, ...(isCut && { note: 'its end', why: 'Its start did not fit.' }) },
  };
}
