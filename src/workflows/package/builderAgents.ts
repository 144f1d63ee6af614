import path from 'node:path';
import * as z from 'zod';
import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import type { PackageManifest } from './format.ts';
import { type PackageAgent, type PackageAgentMenuItem, packageTextSchema, singleLineSchema } from './packageAgents.ts';

const menuItem = z.looseObject({
  description: packageTextSchema,
  trigger: z.string().optional(),
  cmd: z.string().optional(),
  triggers: z.array(z.looseObject({ type: z.string().optional(), match: z.string().optional() })).optional(),
  workflow: z.string().optional(),
  exec: z.string().optional(),
  action: z.string().optional(),
  data: z.string().optional(),
  'web-only': z.boolean().optional(),
});

const policy = z.strictObject({
  fs: z
    .strictObject({
      enabled: z.boolean().default(true),
      maxReadBytes: z
        .int()
        .min(65_536, message('at least 65536: a result of fs.read can have that many').english)
        .optional(),
      maxWriteBytes: z.int().min(1).optional(),
    })
    .default({ enabled: true }),
  mcp: z
    .strictObject({ enabled: z.boolean().default(false), allowedServers: z.array(z.string().min(1)).optional() })
    .default({ enabled: false }),
});

/** Returns the tools of the host's agents: five file tools, and MCP servers if declared. Never a shell and never the web. */
function toolsOf({ fs, mcp }: z.infer<typeof policy>): Pick<PackageAgent, 'tools' | 'maxWriteBytes'> {
  const servers = mcp.allowedServers?.map((server) => `mcp.${server}.*`) ?? ['mcp.*'];
  const allow = [
    ...(fs.enabled ? ['fs.*'] : []),
    ...(mcp.enabled ? servers : []),
    'output.read',
    'plan.update',
    'ask.person',
  ];
  return { tools: { allow, deny: [] }, ...(fs.maxWriteBytes !== undefined && { maxWriteBytes: fs.maxWriteBytes }) };
}

/** Schema of crewagent-builder's `agents.json`, converted to our agents; unsupported parts are rejected with their path. */
export function crewAgentBuilderAgentsSchema(
  version: z.ZodType,
  id: z.ZodType<string>,
  workflows: PackageManifest['workflows'] | undefined,
  needs: (file: string, location: string) => void,
): z.ZodType<{ agents: PackageAgent[] }> {
  const agent = z.strictObject({
    id,
    metadata: z.strictObject({
      name: singleLineSchema,
      title: singleLineSchema,
      icon: z.string(),
      module: z.string().optional(),
      description: z.string().optional(),
      sourceId: z.string().optional(),
    }),
    persona: z.strictObject({
      role: packageTextSchema,
      identity: packageTextSchema,
      communication_style: packageTextSchema,
      principles: z.union([packageTextSchema, z.array(packageTextSchema)]),
    }),
    critical_actions: z.array(packageTextSchema).optional(),
    prompts: z
      .array(z.strictObject({ id: z.string(), content: packageTextSchema, description: z.string().optional() }))
      .default([]),
    menu: z.array(menuItem).max(100).default([]),
    systemPrompt: z.string().max(20_000).optional(),
    userPromptTemplate: z.string().optional(),
    discussion: z.boolean().optional(),
    webskip: z.boolean().optional(),
    conversational_knowledge: z.array(z.unknown()).optional(),
    tools: policy.default({ fs: { enabled: true }, mcp: { enabled: false } }),
  });
  const agents = z
    .array(agent)
    .min(1)
    .max(200)
    .transform((all, context) =>
      all.map(({ id, metadata, persona, critical_actions, prompts, menu, systemPrompt, tools }, at): PackageAgent => {
        const { role, identity, communication_style: style, principles } = persona;
        const items = menu.flatMap((item, index) =>
          itemOf(item, {
            index,
            prompts,
            workflows,
            refuse(key, text) {
              const path = [at, 'menu', index, key];
              context.addIssue({ code: 'custom', message: toEnglishText(text), params: { said: text }, path });
              return [];
            },
            needs: (file, key) => needs(file, `agents[${at}].menu[${index}].${key}`),
          }),
        );
        return {
          id,
          name: metadata.name,
          title: metadata.title,
          persona: systemPrompt?.trim()
            ? systemPrompt
            : { role, identity, style, principles, ...(critical_actions && { actions: critical_actions }) },
          menu: items,
          ...toolsOf(tools),
        };
      }),
    );
  return z.strictObject({ schemaVersion: version, agents });
}

interface Around {
  index: number;
  prompts: readonly { id: string; content: string }[];
  workflows: PackageManifest['workflows'] | undefined;
  refuse(key: string, text: LocalizedMessage): PackageAgentMenuItem[];
  needs(file: string, key: string): void;
}

/** Converts a menu item; empty for an item that needs the host's own interface. */
function itemOf(item: z.infer<typeof menuItem>, around: Around): PackageAgentMenuItem[] {
  const { description, workflow, exec, action, data, triggers = [] } = item;
  const { refuse } = around;
  if (item['web-only'] || /^(menu\.show|agent\.dismiss|run\.resume)$/.test(action ?? '')) return [];
  if (triggers.some(({ type, match }) => type !== 'alias' || match === undefined))
    return refuse('triggers', message('only {"type": "alias", "match": …} is supported here; add the rest as items'));
  const title = oneLine(description);
  const names = [item.trigger, item.cmd, ...triggers.map(({ match }) => match)].flatMap(
    (name) => oneLine(name ?? '') || [],
  );
  const [trigger = slug(title) || String(around.index + 1), ...aliases] = names;
  const begins = { trigger, title, ...(aliases.length > 0 && { aliases }) };

  for (const [key, location] of [
    ['workflow', workflow],
    ['exec', exec],
  ] as const) {
    if (location === undefined || location === '') continue;
    if (/\.(ya?ml|xml)$/i.test(location))
      return refuse(key, message('{0} is a classic workflow, which is not supported', JSON.stringify(location)));
    const found = around.workflows?.find(({ id, state }) => id === location || state === inPackage(location));
    if (found && data) return refuse('data', message('a workflow starts with a message, not with data'));
    if (found) return [{ ...begins, workflow: found.id }];
    if (key === 'exec')
      return [
        {
          ...begins,
          prompt: `Read ${instructionsOf(location, key, around)} and do what it says.${withData(data, around)}`,
        },
      ];
    if (around.workflows) return refuse(key, message('there is no workflow {0}', JSON.stringify(location)));
    return [];
  }
  const prompt = action?.startsWith('#')
    ? around.prompts.find(({ id }) => id === action.slice(1))?.content
    : action || description;
  if (prompt === undefined)
    return refuse('action', message('there is no prompt {0}', JSON.stringify(action!.slice(1))));
  return [{ ...begins, prompt: prompt + withData(data, around) }];
}

const withData = (data: string | undefined, around: Around): string =>
  data ? `\nRead ${instructionsOf(data, 'data', around)} first: it is what this is about.` : '';

/** Converts a path for the model: in the project, or in the package, where the file must exist. */
function instructionsOf(location: string, key: string, { needs }: Around): string {
  const mount = /^(?:\{(project|artifacts|state)-root\}|@(project|state))\/?(.*)$/.exec(location);
  const [, root = mount?.[2], , rest = ''] = mount ?? [];
  if (mount) return `${root === 'artifacts' ? 'artifacts/' : root === 'state' ? '@state/' : ''}${rest}`;
  const file = inPackage(location);
  needs(file, key);
  return `@pkg/${file}`;
}

const inPackage = (location: string): string =>
  path.posix.normalize(location.replaceAll('\\', '/').replace(/^(\{package-root\}|@pkg)\//, ''));

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 200);
const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
