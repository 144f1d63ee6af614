import assert from 'node:assert/strict';
import { settingsTextContainsSecrets } from '../../../src/tools/commandSandbox/settingsSecrets.ts';

const random = 'q8Zx2LmT0vBn4RkYw6Hs1DjCpE7uGf3AoIi9';

const texts: [text: string, secret: boolean][] = [
  ['registry=https://registry.example.com/\nsave-exact=true', false],
  [`//registry.npmjs.org/:_authToken=${'$'}{NPM_TOKEN}`, false],
  [`//registry.npmjs.org/:_authToken=npm_${random}`, true],
  ['//registry.example.com/:_password=aGVsbG8td29ybGQ=', true],
  ['_auth = aGVsbG8td29ybGQ=', true],
  ['[global]\nindex-url = https://pypi.example.com/simple', false],
  ['[global]\nindex-url = https://ann:correct-horse@pypi.example.com/simple', true],
  [`[global]\nindex-url = https://${random}@pypi.example.com/simple`, true],
  ['[user]\n\tname = Ann\n\temail = ann@example.com\n[credential]\n\thelper = store', false],
  ['[url "git@github.com:"]\n\tinsteadOf = https://github.com/', false],
  ['[remote "origin"]\n\turl = ssh://git@example.com/a.git', false],
  ['[remote "origin"]\n\turl = https://ann:correct-horse@example.com/a.git', true],
  ['[http "https://example.com/"]\n\textraheader = AUTHORIZATION: basic eDp5ejEyMzQ=', true],
  ['export PATH=$HOME/bin:$PATH\nalias ll="ls -l"', false],
  ['export GITHUB_TOKEN=$(pass github)', false],
  ['export DB_PASSWORD=correct-horse', true],
  ['set -gx API_KEY correct-horse', true],
  ['# export DB_PASSWORD=correct-horse', false],
  [`npmAuthToken: "${random}"`, true],
];

describe('secrets in settings', () => {
  for (const [text, secret] of texts)
    it(`${secret ? 'are found' : 'are not seen'} in ${JSON.stringify(text)}`, () =>
      assert.equal(settingsTextContainsSecrets(text), secret));
});
