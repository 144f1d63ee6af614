import * as z from 'zod';
import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText } from '../../protocol/text/localized.ts';
import { toolNames } from '../../tools/definitions/definitions.ts';
import { matchesToolPattern } from '../action/toolSpecs.ts';
import { didYouMeanHint } from '../template/near.ts';
import { packageIdSchema } from './packageGraph.ts';

export const singleLineSchema = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\r\n]+$/, message('expected one line').english);
export const packageTextSchema = z.string().min(1).max(20_000);

const menuItemSchema = z
  .object({
    trigger: singleLineSchema,
    title: singleLineSchema,
    aliases: z.array(singleLineSchema).optional(),
    /** Workflow started by the item; absent: `prompt` is sent to the agent. */
    workflow: packageIdSchema.optional(),
    prompt: packageTextSchema.optional(),
  })
  .refine(({ workflow, prompt }) => (workflow === undefined) !== (prompt === undefined), {
    message: message('needs either a workflow or a prompt').english,
  });
export type PackageAgentMenuItem = z.infer<typeof menuItemSchema>;

const agentSchema = z.object({
  id: packageIdSchema,
  name: singleLineSchema,
  title: singleLineSchema.optional(),
  persona: z.union([
    packageTextSchema,
    z.object({
      role: packageTextSchema,
      identity: packageTextSchema.optional(),
      style: packageTextSchema.optional(),
      principles: z.union([packageTextSchema, z.array(packageTextSchema)]).optional(),
      actions: z.array(packageTextSchema).optional(),
    }),
  ]),
  menu: z.array(menuItemSchema).max(100).default([]),
  /** Tool names or prefixes with `*` (`fs.*`). The policy can only restrict what workspace and user permit. */
  tools: z
    .strictObject({ allow: z.array(z.string().min(1)).optional(), deny: z.array(z.string().min(1)).default([]) })
    .default({ deny: [] }),
});
export interface PackageAgent extends z.infer<typeof agentSchema> {
  maxWriteBytes?: number;
}

export const packageAgentsSchema = z.object({ agents: z.array(agentSchema).min(1).max(200) });

/** Returns true if the policy permits a tool. `fs_write`, the wire name, equals `fs.write`. */
export function allowsTool(
  { tools: { allow, deny } }: { tools: { allow?: readonly string[]; deny: readonly string[] } },
  tool: string,
): boolean {
  const named = (list: readonly string[]) => list.some((one) => matchesToolPattern(plain(one), plain(tool)));
  // it can call any MCP tool, so a policy that denies some tools must deny it
  const callsAny = plain(tool) === 'mcp.call.tool' && deny.some((one) => plain(one).startsWith('mcp.'));
  return (allow === undefined || named(allow)) && !named(deny) && !callsAny;
}

/**
 * Returns the unknown names of a policy with their path: such a name has no effect. Tools of MCP servers are unknown in advance, so any
 * name below `mcp.` is valid.
 */
export function agentToolPolicyProblems({
  tools,
}: Pick<PackageAgent, 'tools'>): { location: string; problem: LocalizableText }[] {
  const known = toolNames();
  return (['allow', 'deny'] as const).flatMap((list) =>
    (tools[list] ?? []).flatMap((name, index) => {
      const wanted = plain(name);
      if (/^mcp\.(?!\.)./.test(wanted) || known.some((tool) => matchesToolPattern(wanted, plain(tool)))) return [];
      const whole = known.filter((tool) => plain(tool).startsWith(`${wanted}.`));
      const hint = whole.length > 0 ? message('Did you mean {0}?', `"${wanted}.*"`) : didYouMeanHint(name, known);
      const none = message('there is no tool {0}', JSON.stringify(name));
      return [{ location: `tools.${list}[${index}]`, problem: hint ? joinLocalizableTexts([none, hint], '. ') : none }];
    }),
  );
}

const plain = (name: string) => name.toLowerCase().replaceAll('_', '.');

export function agentPersonaText({ name, title, persona }: PackageAgent): string {
  const who = `You are ${name}${title ? `, ${title}` : ''}.`;
  if (typeof persona === 'string') return `${who}\n${persona.trim()}`;
  const principles = [persona.principles ?? []].flat();
  return [
    who,
    `Role: ${persona.role}`,
    persona.identity && `Identity: ${persona.identity}`,
    persona.style && `Style: ${persona.style}`,
    principles.length > 0 && `Principles:\n${principles.map((one) => `- ${one}`).join('\n')}`,
    persona.actions?.length && `Always:\n${persona.actions.map((one) => `- ${one}`).join('\n')}`,
  ]
    .filter(Boolean)
    .join('\n');
}
