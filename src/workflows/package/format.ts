import * as z from 'zod';
import { message } from '../../protocol/text/l10n.ts';
import { type PackageAgent, packageAgentsSchema } from './packageAgents.ts';
import { type PackageWorkflowGraph, packageIdSchema, packageWorkflowGraphSchema } from './packageGraph.ts';

const manifestSchema = z.object({
  name: packageIdSchema,
  title: z.string().min(1).max(200).optional(),
  version: z.string().max(50).optional(),
  description: z.string().max(2000).optional(),
  agents: z.string().min(1).default('agents.json'),
  workflows: z
    .array(
      z.object({
        id: packageIdSchema,
        title: z.string().min(1).max(200).optional(),
        description: z.string().max(2000).optional(),
        graph: z.string().min(1),
        /** Markdown with the initial variables and text of the state document. */
        state: z.string().min(1).optional(),
        agentId: packageIdSchema.optional(),
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
export type PackageManifest = z.infer<typeof manifestSchema>;

export interface PackageSchemas {
  manifest: z.ZodType<PackageManifest>;
  /**
   * Parses the agents.
   *
   * @param workflows workflows of the manifest; undefined if the manifest is invalid
   * @param needs receives required package files with their location of reference
   */
  agents(
    workflows: PackageManifest['workflows'] | undefined,
    needs: (file: string, location: string) => void,
  ): z.ZodType<{ agents: PackageAgent[] }>;
  graph(graphFile: string): z.ZodType<PackageWorkflowGraph>;
  /** True: graphs are only validated for defects that stop every run. */
  lenient: boolean;
}

export const towpathPackageFormat: PackageSchemas = {
  manifest: manifestSchema,
  agents: () => packageAgentsSchema,
  graph: () => packageWorkflowGraphSchema,
  lenient: false,
};
