import type { McpSdk } from '../loadSdk.ts';
import { SignInError, SignInRequiredError } from '../oauth/signInErrors.ts';

/**
 * Returns what the model reads about a failed request to a server that is still connected. `invalid`: the answer is no result. Undefined:
 * the server is no longer connected.
 * @param subject name of the server as the subject of a sentence
 */
export function callErrorText(error: unknown, subject: string, sdk: McpSdk): string | undefined {
  const { message: text } = error as Error;
  if (error instanceof SignInRequiredError)
    return `${subject} ${text}. The person can do that in "Towpath: MCP Servers…".`;
  if (error instanceof SignInError) return `${subject} was not asked: its sign-in could not be renewed (${text}).`;
  if (error instanceof sdk.ProtocolError) return `${subject} says: ${text.slice(0, 4000)}`;
  const { InvalidResult, UnsupportedResultType, CapabilityNotSupported, InputRequiredRoundsExceeded } =
    sdk.SdkErrorCode;
  const isSdkError = (...codes: unknown[]) => error instanceof sdk.SdkError && codes.includes(error.code);
  if (isSdkError(InvalidResult, UnsupportedResultType)) return 'invalid';
  return isSdkError(CapabilityNotSupported, InputRequiredRoundsExceeded)
    ? `${subject} asked for something that Towpath does not do for servers.`
    : undefined;
}
