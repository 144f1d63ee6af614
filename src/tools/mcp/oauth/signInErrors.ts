import { message } from '../../../protocol/text/l10n.ts';
import { type LocalizableText, UserFacingError } from '../../../protocol/text/localized.ts';
import { McpServerFault } from '../transport/stdio.ts';

/**
 * Challenge of a server that refused a request (RFC 6750, section 3). `scope` lists the scopes that the request needs; `metadataUrl` is the
 * address of the protected resource metadata (RFC 9728). `kind`: there are no tokens, they have expired, they have too few scopes, or the
 * editor did not retain them.
 */
export interface SignInChallenge {
  kind: 'missing' | 'expired' | 'scope' | 'lost';
  scope?: string;
  metadataUrl?: string;
}

/** Refusal of a server that a sign-in can resolve, as the end of a sentence. */
export class SignInRequiredError extends McpServerFault {
  override readonly name = 'SignInRequired';

  constructor(readonly challenge: SignInChallenge) {
    super(reasons[challenge.kind]);
  }
}

const reasons = {
  missing: message('requires a sign-in'),
  expired: message('requires a new sign-in, because the previous one has expired'),
  scope: message('requires a sign-in with more permissions'),
  lost: message('requires a sign-in, because the editor did not retain the previous one'),
};

/** Reason why a sign-in failed, as the part of a sentence after a colon. Nothing was stored. */
export class SignInError extends UserFacingError {
  override readonly name = 'SignInError';
}

/** A sign-in without network; the SDK repeats requests after other errors of a fetch. */
export class OfflineSignInError extends SignInError {
  constructor(cause: unknown) {
    super(message('the sign-in needs a network connection'), { cause });
  }
}

export const signInError = (reason: LocalizableText, options?: ErrorOptions): SignInError =>
  new SignInError(reason, options);
