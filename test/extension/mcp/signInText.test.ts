import assert from 'node:assert/strict';
import { signInRequiredText, signInText } from '../../../src/extension/mcp/signInText.ts';

const request = {
  server: 'tracker',
  serverHost: 'tracker.example',
  signInHost: 'login.example',
  tokenHost: 'login.example',
  scopes: ['issues:read', 'issues:write'],
};

describe('the dialog before a sign-in', () => {
  it('names server, sign-in page and scopes', () =>
    assert.deepEqual(signInText(request), {
      message: 'Sign in to “tracker”?',
      detail:
        'Server: tracker.example. Sign-in page: login.example (a different site).\n\nIt requests: issues:read, issues:write.',
    }));

  it('says when both are one site, and when nothing is requested', () =>
    assert.equal(
      signInText({ ...request, signInHost: 'tracker.example', tokenHost: 'tracker.example', scopes: [] }).detail,
      'Server and sign-in page: tracker.example.\n\nIt does not say what it requests; the sign-in page does.',
    ));

  it('says when another site gets the sign-in', () =>
    assert.match(
      signInText({ ...request, tokenHost: 'evil.example' }).detail,
      /Sign-in page: login\.example \(a different site\)\. The sign-in is completed at evil\.example\.\n/,
    ));

  it('shows what a server writes as one line, without hidden characters', () => {
    const { message, detail } = signInText({
      ...request,
      server: 'a\nServer: good.example\u202e',
      scopes: ['read\n\nSign-in page: good.example'],
    });
    assert.ok(!message.includes('\n') && !message.includes('\u202e'), message);
    assert.equal(detail.split('\n\n').length, 2, detail);
  });

  it('shortens a name, so that the question stays visible', () =>
    assert.ok(signInText({ ...request, server: 'x'.repeat(1000) }).message.length < 150));
});

describe('the notification of a required sign-in', () => {
  const texts = [
    ['missing', '“tracker” requires a sign-in.'],
    ['expired', 'The sign-in to “tracker” has expired.'],
    ['scope', '“tracker” requires a sign-in with more permissions.'],
  ] as const;
  for (const [kind, text] of texts) it(kind, () => assert.equal(signInRequiredText('tracker', kind), text));
});
