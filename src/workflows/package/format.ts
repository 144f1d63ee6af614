import * as z from 'zod';
import { message } from '../../protocol/text/l10n.ts';
import { agentsSchema, type PackageAgent } from './packageAgents.ts';
import { idSchema, type PackageGraph, packageGraphSchema } from './packageGraph.ts';

const manifestSchema = z.object({
  name: idSchema,
  title: z.string().min(1).max(200).optional(),
  version: z.string().max(50).optional(),
  description: z.string().max(2000).optional(),
  agents: z.string().min(1).default('agents.json'),
  workflows: z
    .array(
      z.object({
        id: idSchema,
        title: z.string().min(1).max(200).optional(),
        description: z.string().max(2000).optional(),
        graph: z.string().min(1),
        /** Markdown whose variables and text the state document begins with. */
        state: z.string().min(1).optional(),
        /** Who does what no node names an agent for; without it the first of `agents.json`. */
        agentId: idSchema.optional(),
        /** Where outputs with relative paths go. */
        artifacts: z
          .string()
          .regex(
            /^@(state|project)\/(?!.*(^|\/)\.\.(\/|$))[^\\\r\n]*$/,
            message('expected a path below @state/ or @project/').english,
          )
          .default('@state/artifacts'),
      }),
    )
    .min(1)
    .max(200),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** A way to write packages: what its files look like, read as what a package is here. */
export interface PackageFormat {
  manifest: z.ZodType<Manifest>;
  /**
   * @param workflows those of the manifest; undefined: it cannot be read, and nobody knows
   * @param needs hears of files of the package that must be there, and where they are named
   */
  agents(
    workflows: Manifest['workflows'] | undefined,
    needs: (file: string, place: string) => void,
  ): z.ZodType<{ agents: PackageAgent[] }>;
  graph(graphFile: string): z.ZodType<PackageGraph>;
  /** Graphs are looked at for what no run could follow alone. */
  lenient: boolean;
}

/** As the page of packages has it. */
export const ownFormat: PackageFormat = {
  manifest: manifestSchema,
  agents: () => agentsSchema,
  graph: () => packageGraphSchema,
  lenient: false,
};
