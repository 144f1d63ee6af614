import { isSecretVariableName } from '../../shell/environment.ts';
import type { McpConfigInput, McpServerDefinition, RemoteServerConfig, StdioServerConfig } from './config.ts';
import { fillEnvAndInputVariables } from './variables.ts';

/** Command or address with all values filled in, and the secrets to redact. */
export interface ResolvedServerLaunch {
  launch: StdioServerConfig | RemoteServerConfig;
  secrets: string[];
}

/** Requests the inputs and fills in all values; undefined if a value is missing. */
export async function resolveServerLaunch(
  definition: McpServerDefinition,
  env: NodeJS.ProcessEnv,
  ask: (input: McpConfigInput) => Promise<string | undefined>,
): Promise<ResolvedServerLaunch | undefined> {
  const inputs = new Map<string, string>();
  for (const input of definition.inputs) {
    const value = await ask(input);
    if (value === undefined) return undefined;
    inputs.set(input.id, value);
  }
  const { value: launch, secrets } = fillEnvAndInputVariables<StdioServerConfig | RemoteServerConfig>(
    definition,
    env,
    inputs,
  );
  return { launch, secrets: [...secrets, ...secretsOf(launch)] };
}

function secretsOf(launch: StdioServerConfig | RemoteServerConfig): string[] {
  if (launch.type !== 'stdio') return Object.values(launch.headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  return Object.entries(launch.env).flatMap(([name, value]) =>
    value !== null && isSecretVariableName(name) ? [value] : [],
  );
}
