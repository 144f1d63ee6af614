import assert from 'node:assert/strict';
import { addressText } from '../../../src/extension/mcp/addressText.ts';

describe('The dialog before a page of an MCP server opens', () => {
  it('names the site, the server, what it says and the whole address', () => {
    const text = addressText('tickets', { mode: 'url', message: 'Pay for it', url: 'https://pay.example/1?a=b' });
    assert.deepEqual(text, {
      message: 'Open a page on pay.example for “tickets”?',
      detail: 'The server says: Pay for it\n\nhttps://pay.example/1?a=b\n\nTowpath does not see what you enter there.',
    });
  });

  it('shows a host that imitates another one, and hidden characters', () => {
    const { message, detail } = addressText('a\u202eb', {
      mode: 'url',
      message: 'x\u200by',
      url: 'https://pаypal.example@evil.example/',
    });
    assert.equal(message, 'Open a page on evil.example for “a⟨U+202E⟩b”?');
    assert.match(detail, /^The server says: x⟨U\+200B⟩y\n/);
    const cyrillic = addressText('s', { mode: 'url', message: 'x', url: 'https://pаypal.example/' });
    assert.match(cyrillic.message, /xn--/);
  });
});
