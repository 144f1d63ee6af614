/**
 * Format of the system messages of a package's workflow: blocks, separated by an empty line. A block is its name and lines `- key: value`.
 * The model reads them, and so do the run after a reload and the panel.
 */
type PromptBlockName = 'RUN_DIRECTIVE' | 'AGENT_PERSONA' | 'NODE_BRIEF' | 'USER_INPUT' | 'NODE_REMINDER';

/** Formats a block. Line breaks in values are removed, so that package text cannot add lines. */
export function promptBlock(name: PromptBlockName, values: Record<string, string>): string {
  const lines = Object.entries(values).map(([key, value]) => `- ${key}: ${value.replace(/\s+/g, ' ').trim()}`);
  return [name, ...lines].join('\n');
}

export const joinPromptBlocks = (blocks: readonly string[]): string => blocks.join('\n\n');

export const beginsWithPromptBlock = (content: string, name: PromptBlockName): boolean =>
  content.startsWith(`${name}\n`);

/** Returns the text from the last block of this name on; undefined if absent. */
export function lastPromptBlock(content: string, name: PromptBlockName): string | undefined {
  const at = `\n\n${content}`.lastIndexOf(`\n\n${name}\n`);
  return at < 0 ? undefined : content.slice(at);
}

/** Returns the first value of a key; undefined if absent. */
export const promptBlockField = (content: string, key: string): string | undefined =>
  new RegExp(`^- ${key}: (.*)$`, 'm').exec(content)?.[1];

/** Returns the persona block with the text that follows, up to the brief of the node. */
export const personaOfBrief = (content: string): string | undefined =>
  /\n\n(AGENT_PERSONA\n[\s\S]*?)\n\nNODE_BRIEF\n/.exec(content)?.[1];
