import * as z from 'zod';
import { idSchema } from './graph.ts';

const line = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\r\n]+$/, 'expected one line');
const words = z.string().min(1).max(20_000);

const menuItemSchema = z
  .object({
    /** What a person types to choose it: one word. */
    trigger: line,
    title: line,
    /** The workflow it begins … */
    workflow: idSchema.optional(),
    /** … or what is said to the agent. */
    prompt: words.optional(),
  })
  .refine(({ workflow, prompt }) => (workflow === undefined) !== (prompt === undefined), {
    message: 'needs either a workflow or a prompt',
  });
export type MenuItem = z.infer<typeof menuItemSchema>;

const agentSchema = z.object({
  id: idSchema,
  name: line,
  title: line.optional(),
  persona: z.union([
    words,
    z.object({
      role: words,
      identity: words.optional(),
      style: words.optional(),
      principles: z.union([words, z.array(words)]).optional(),
    }),
  ]),
  menu: z.array(menuItemSchema).max(100).default([]),
  /** Names of tools, or a beginning and `*` (`fs.*`). It can only narrow what the workspace and the person allow. */
  tools: z
    .object({ allow: z.array(z.string().min(1)).optional(), deny: z.array(z.string().min(1)).default([]) })
    .default({ deny: [] }),
});
export type PackageAgent = z.infer<typeof agentSchema>;

export const agentsSchema = z.object({ agents: z.array(agentSchema).min(1).max(200) });

/** Whether the agent's tool policy leaves a tool. `fs_write`, as models call it, is `fs.write`. */
export function allowsTool({ tools: { allow, deny } }: PackageAgent, tool: string): boolean {
  const plain = (name: string) => name.toLowerCase().replaceAll('_', '.');
  const name = plain(tool);
  const named = (list: readonly string[]) =>
    list.map(plain).some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
  return (allow === undefined || named(allow)) && !named(deny);
}

/** The persona as text. */
export function personaOf({ name, title, persona }: PackageAgent): string {
  const who = `You are ${name}${title ? `, ${title}` : ''}.`;
  if (typeof persona === 'string') return `${who}\n${persona.trim()}`;
  const principles = [persona.principles ?? []].flat();
  return [
    who,
    `Role: ${persona.role}`,
    persona.identity && `Identity: ${persona.identity}`,
    persona.style && `Style: ${persona.style}`,
    principles.length > 0 && `Principles:\n${principles.map((one) => `- ${one}`).join('\n')}`,
  ]
    .filter(Boolean)
    .join('\n');
}
