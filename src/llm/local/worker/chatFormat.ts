import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { type ChatWrapperName, chatWrappers } from '../ipc/chatWrappers.ts';

interface TemplateModel {
  fileInfo: { metadata?: { tokenizer?: { chat_template?: string } } };
  tokens: { bosString: string | null; eosString: string | null };
}

interface JsonText {
  toJSON(): unknown;
}

/** A chat format of the library. */
interface ChatFormat {
  wrapperName: string;
  settings: unknown;
  generateContextState(conversation: never): { contextText: JsonText; stopGenerationTriggers: readonly JsonText[] };
}

interface FormatLibrary<Model, Format> {
  getModuleVersion(): Promise<string>;
  resolveChatWrapper(model: Model, options: { type: ChatWrapperName; warningLogs?: boolean }): Format;
}

/**
 * Returns the chat format of a model. Finding out which format the template in the file has (`auto`) takes most of the time of a start; the
 * answer is remembered by the hash of the template, if it can be created again by its name.
 * @param folder folder of the remembered answers; undefined: none
 */
export async function resolveChatFormat<Model extends TemplateModel, Format extends ChatFormat>(
  library: FormatLibrary<Model, Format>,
  model: Model,
  type: ChatWrapperName,
  folder: string | undefined,
): Promise<Format> {
  const template = model.fileInfo.metadata?.tokenizer?.chat_template;
  if (type !== 'auto' || folder === undefined || !template) return library.resolveChatWrapper(model, { type });
  const facts = [await library.getModuleVersion(), template, model.tokens.bosString, model.tokens.eosString];
  const file = path.join(folder, createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32));
  const known = readName(file);
  if (known) return library.resolveChatWrapper(model, { type: known });
  const found = library.resolveChatWrapper(model, { type });
  const name = nameOf(library, model, found);
  if (name) writeName(file, name);
  return found;
}

/** Returns the name by which the library creates an equal format; undefined if there is none. */
function nameOf<Model, Format extends ChatFormat>(
  library: FormatLibrary<Model, Format>,
  model: Model,
  found: Format,
): ChatWrapperName | undefined {
  const isJinja = found.wrapperName === 'JinjaTemplate';
  const names = isJinja ? (['jinjaTemplate'] as const) : chatWrappers.filter((one) => !searching.has(one));
  return names.find((name) => {
    const other = library.resolveChatWrapper(model, { type: name, warningLogs: false });
    return other.constructor === found.constructor && textOf(other) === textOf(found);
  });
}

/** Names for which the library reads the template. */
const searching: ReadonlySet<ChatWrapperName> = new Set(['auto', 'jinjaTemplate']);

/** Text of a conversation with each kind of content, and the settings that its reading depends on. */
function textOf(format: ChatFormat): string {
  const states = histories.map((chatHistory) => {
    const conversation = { chatHistory, availableFunctions } as never;
    const { contextText, stopGenerationTriggers } = format.generateContextState(conversation);
    return [contextText.toJSON(), stopGenerationTriggers.map((one) => one.toJSON())];
  });
  return JSON.stringify([format.settings, states]);
}

const availableFunctions = {
  read: { description: 'Reads a file.', params: { type: 'object', properties: { path: { type: 'string' } } } },
} as const;

const call = (path: string) => ({
  type: 'functionCall' as const,
  name: 'read',
  params: { path },
  result: { text: path },
});
const thought = { type: 'segment' as const, segmentType: 'thought' as const, text: 'Think.', ended: true };
const histories = [
  [{ type: 'user', text: 'Question' }, { type: 'model', response: [] }],
  [
    { type: 'system', text: 'System' },
    { type: 'user', text: 'Question' },
    { type: 'model', response: [thought, 'Text', { ...call('a'), startsNewChunk: true }, call('b'), 'Answer'] },
    { type: 'user', text: 'More' },
    { type: 'model', response: [thought, 'Answer'] },
    { type: 'user', text: 'Last' },
    { type: 'model', response: [] },
  ],
]; // biome-ignore format: conversation

function readName(file: string): ChatWrapperName | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    return chatWrappers.find((name) => name === text && name !== 'auto');
  } catch {
    return undefined; // not known yet
  }
}

function writeName(file: string, name: ChatWrapperName): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, name);
  } catch {
    // the next start searches again
  }
}
