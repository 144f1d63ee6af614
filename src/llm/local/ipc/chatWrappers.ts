/**
 * Chat formats: the template in the file (`auto`), or a format known to node-llama-cpp by name. `template` is excluded because it needs a
 * custom template.
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
