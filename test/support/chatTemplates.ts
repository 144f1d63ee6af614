import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Template } from '@huggingface/jinja';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import { learnOpenAICompatibilityFlags, type OpenAICompatibilityFlags } from '../../src/llm/models/wireFlags.ts';
import { type OpenAIWireMessage, type OpenAIWireToolCall, toOpenAIWireRequest } from '../../src/llm/openai/wire.ts';
import { projectRoot } from './editor/project.ts';

/** What a server that speaks OpenAI's protocol gives its model's chat template. */
export interface Body {
  messages: OpenAIWireMessage[];
  tools?: unknown[];
}

export interface ChatTemplate {
  name: string;
  /** The conversation as the model reads it. Throws with the template's words where it refuses. */
  render(body: Body): string;
  /** What `takesPlain` has found. */
  takes: Map<string, boolean>;
}

const bundle = path.join(projectRoot, 'node_modules/node-llama-cpp/llama/gitRelease.bundle');
const place = 'models/templates';

/** The templates of real models that come with the local engine's sources: read out of them, and kept nowhere. */
export function chatTemplates(): ChatTemplate[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'templates-'));
  const git = (...args: string[]) => execFileSync('git', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    git('clone', '--quiet', '--no-checkout', bundle, folder);
    git('-C', folder, 'checkout', '--quiet', 'HEAD', '--', place);
    const files = readdirSync(path.join(folder, place)).filter((file) => file.endsWith('.jinja'));
    return files.map((file) => templateOf(file, readFileSync(path.join(folder, place, file), 'utf8')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function templateOf(file: string, text: string): ChatTemplate {
  let template: Template | undefined;
  return {
    name: path.basename(file, '.jinja'),
    takes: new Map(),
    render({ messages, tools }) {
      template ??= new Template(text); // throws at what the interpreter cannot read
      const given = { messages: messages.map(asGiven), ...(tools && { tools }) };
      return template.render({ ...given, add_generation_prompt: true, bos_token: '<s>', eos_token: '</s>' });
    },
  };
}

/** As servers hand it to a template that reads text: arguments as data, the texts among several parts as one. */
function asGiven(message: OpenAIWireMessage): object {
  const { content } = message;
  const text = Array.isArray(content) ? content.map((part) => ('text' in part ? part.text : '')).join('\n') : content;
  if (message.role !== 'assistant' || !message.tool_calls) return { ...message, content: text };
  const calls = message.tool_calls.map((call) => {
    // Our interpreter, unlike others, takes `arguments.items()` for a key of that name where there is one, and has no text of null.
    const { items, ...given } = JSON.parse(call.function.arguments, (_, value) => (value === null ? 'None' : value));
    const data = items === undefined ? given : { ...given, items_: items };
    return { ...call, function: { ...call.function, arguments: data } };
  });
  return { ...message, content: text, tool_calls: calls };
}

/**
 * Whether a template takes, and has every word of, the simplest conversation with what a request has in it: a system
 * prompt, tools, calls with their results. A model may know no tools, and our interpreter less than a template wants.
 */
export function takesPlain(template: ChatTemplate, request: ChatRequest): boolean {
  const body = plain(toBody(request));
  const known = template.takes.get(JSON.stringify(body));
  if (known !== undefined) return known;
  let takes = false;
  try {
    takes = missing(words(body), template.render(body)).length === 0;
  } catch {}
  template.takes.set(JSON.stringify(body), takes);
  return takes;
}

function plain({ messages, tools }: Body): Body {
  const system = messages.filter(({ role }) => role === 'system').slice(0, 1);
  const forms = new Map<string, OpenAIWireMessage[]>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    const { content, tool_calls: calls = [] } = message;
    forms.set(`${content === null} ${calls.length}`, turnOf(content, calls));
  }
  const turns = [...forms.keys()].sort().flatMap((form) => forms.get(form)!);
  return { messages: [...system, ...turns, { role: 'user', content: 'Well?' }], ...(tools && { tools }) };
}

function turnOf(content: string | null, calls: readonly OpenAIWireToolCall[]): OpenAIWireMessage[] {
  const asked: OpenAIWireMessage = { role: 'user', content: 'Go on.' };
  if (calls.length === 0) return [asked, { role: 'assistant', content: 'So.' }];
  const own = calls.map(
    (call, at): OpenAIWireToolCall => ({ ...call, id: `call_${at}`, function: { ...call.function, arguments: '{}' } }),
  );
  return [
    asked,
    { role: 'assistant', content: content && 'I look.', tool_calls: own },
    ...own.map(({ id }): OpenAIWireMessage => ({ role: 'tool', tool_call_id: id, content: '{"ok":true}' })),
    { role: 'assistant', content: 'So.' },
  ];
}

const toBody = (request: ChatRequest, flags: OpenAICompatibilityFlags = { provider: 'openai-compatible' }): Body =>
  toOpenAIWireRequest(request, flags) as unknown as Body;

/** Asks as the client does, learning from what the template refuses. Throws its words where there is nothing to learn. */
export function ask(
  template: Pick<ChatTemplate, 'name' | 'render'>,
  request: ChatRequest,
): { body: Body; text: string } {
  let flags: OpenAICompatibilityFlags = { provider: 'openai-compatible' };
  for (;;) {
    const body = toBody(request, flags);
    try {
      return { body, text: template.render(body) };
    } catch (error) {
      const words = (error as Error).message;
      const learned = learnOpenAICompatibilityFlags(words, undefined, flags);
      if (!learned) throw new Error(`${template.name} refuses: ${words}`);
      flags = learned;
    }
  }
}

/** What was said by the person and in the system's name, of which the model has to read every word. */
export function words({ messages }: Pick<Body, 'messages'>): string[] {
  return messages.flatMap(({ role, content }) => {
    if (role !== 'user' && role !== 'system') return [];
    return typeof content === 'string' ? [content] : content.flatMap((part) => ('text' in part ? [part.text] : []));
  });
}

/** The texts that are not in the conversation as the model reads it. Blanks do not count: templates trim. */
export function missing(texts: readonly string[], rendered: string): string[] {
  const bare = (text: string) => text.replace(/\s+/g, '');
  const read = bare(rendered);
  return texts.filter((text) => !read.includes(bare(text)));
}
