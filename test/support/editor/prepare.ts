// Fetches what the tests drive: a program of its own, so that whoever waits for it can end it.
import { ensureChromium } from './chromium.ts';
import { ensureServer } from './install.ts';

ensureChromium();
ensureServer();
