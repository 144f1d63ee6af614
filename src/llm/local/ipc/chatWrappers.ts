/**
 * How a conversation can be written for a model: by the template in its file (`auto`), or in one of the forms that
 * node-llama-cpp knows by name. `template` is not among them: it needs a template of one's own.
 */
export const chatWrappers = [
  'auto',
  'jinjaTemplate',
  'general',
  'chatML',
  'llama2Chat',
  'llama3',
  'llama3.1',
  'llama3.2-lightweight',
  'mistral',
  'qwen',
  'deepSeek',
  'gemma',
  'gemma4',
  'harmony',
  'seed',
  'muse',
  'functionary',
  'falconChat',
  'alpacaChat',
] as const;

export type ChatWrapperName = (typeof chatWrappers)[number];
