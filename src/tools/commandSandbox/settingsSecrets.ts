import { readRegularFile } from '../sandbox/regularFile.ts';
import { containsSecretsAnywhere } from '../sandbox/secretContent.ts';

const maxBytes = 1_000_000;

/** Tests a settings file (absolute path) for secrets. A large file counts as one with secrets; one that cannot be read has none to hide. */
export async function settingsContainSecrets(path: string): Promise<boolean> {
  try {
    return settingsTextContainsSecrets((await readRegularFile(path, maxBytes)).toString('latin1'));
  } catch (error) {
    return (error as { code?: string }).code === 'too large';
  }
}

/** Tests for tokens of well-known forms, passwords in addresses, and values under a name such as `_password`. */
export const settingsTextContainsSecrets = (text: string): boolean =>
  containsSecretsAnywhere(text) || passwordInAddress.test(text) || namedSecret.test(text);

// A value that starts with `$` refers to a variable.
const passwordInAddress = /:\/\/[^/\s:@]*:[^/\s@$][^/\s@]*@|:\/\/[^/\s:@$]{16,}@/;
const namedSecret =
  /^[^#;\n]*(?:token|secret|passw(?:or)?d|api_?key|_auth|extraheader)[\w.-]*["']?(?:[ \t]*[=:][ \t]*|[ \t]+)["']?(?!\$)[^\s"'$]{8,}/im;
