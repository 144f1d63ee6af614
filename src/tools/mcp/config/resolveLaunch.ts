import { isSecretName } from '../../shell/environment.ts';
import type { Definition, Input, Local, Remote } from './config.ts';
import { filledIn } from './variables.ts';

/** Command or address with all values filled in, and the secrets to redact. */
export interface Launch {
  launch: Local | Remote;
  secrets: string[];
}

/** Requests the inputs and fills in all values; undefined if a value is missing. */
export async function launchOf(
  definition: Definition,
  env: NodeJS.ProcessEnv,
  ask: (input: Input) => Promise<string | undefined>,
): Promise<Launch | undefined> {
  const inputs = new Map<string, string>();
  for (const input of definition.inputs) {
    const value = await ask(input);
    if (value === undefined) return undefined;
    inputs.set(input.id, value);
  }
  const { value: launch, secrets } = filledIn<Local | Remote>(definition, env, inputs);
  return { launch, secrets: [...secrets, ...secretsOf(launch)] };
}

function secretsOf(launch: Local | Remote): string[] {
  if (launch.type !== 'stdio') return Object.values(launch.headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  return Object.entries(launch.env).flatMap(([name, value]) => (value !== null && isSecretName(name) ? [value] : []));
}
