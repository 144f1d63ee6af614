import type { FrameLocator, Locator, Page } from 'playwright-core';
import type { RunPhase } from '../../../src/protocol/run/events.ts';
import { eventually } from '../eventually.ts';
import { extensionId } from './project.ts';

/** One thing that stands in the panel's conversation. */
export type TranscriptEntry =
  | { role: string; text: string }
  | { tool: string; status: string; call: string; text: string };

/** Towpath's chat panel, by the marks that it keeps stable for tests. */
export interface Panel {
  /** The panel's own document; Playwright locators start here. */
  frame: FrameLocator;
  composer: Locator;
  sendButton: Locator;
  stopButton: Locator;
  /** Waits until a person could type. */
  ready(): Promise<void>;
  /** Puts `text` into the message box. */
  write(text: string): Promise<void>;
  send(text: string): Promise<void>;
  stop(): Promise<void>;
  /** After a denial: lets the run continue by Enter on the empty message box, and waits until it rests with another reply. */
  continueHeld(): Promise<void>;
  /** Waits until the next key lands in the message box. */
  hasTheKeys(): Promise<void>;
  /** Waits until the panel says `text`; fails with what it says instead. */
  shows(text: string | RegExp): Promise<void>;
  phase(): Promise<RunPhase | ''>;
  /** Waits for one of `phases` and gives it; fails with what the panel shows. */
  waitForPhase(phases: RunPhase | '' | (RunPhase | '')[]): Promise<RunPhase | ''>;
  /** The cards of a tool's calls, oldest first; of all tools without a name. */
  cards(tool?: string): Locator;
  transcript(): Promise<TranscriptEntry[]>;
}

/** @param where in its view, in whichever bar that is, or in a tab of the editors */
export function panelOf(page: Page, where: 'view' | 'tab' = 'view'): Panel {
  const chat = `iframe.webview[src*="extensionId=${extensionId}"]`;
  const inView = `${chat}[src*="purpose=webviewView"]`; // until the view is hidden and comes back: then nothing says so any more
  const view = `html:has(${inView}) ${inView}, html:not(:has(${inView})) ${chat}`;
  const tab = `${chat}:not([src*="purpose=webviewView"])`;
  const frame = page
    .frameLocator(where === 'view' ? view : tab)
    .first()
    .frameLocator('iframe#active-frame');
  // The mark may sit on the text area or on a control that holds one.
  const composer = frame.locator('textarea[data-testid="composer"], [data-testid="composer"] textarea').first();
  const sendButton = frame.getByTestId('send').locator('button'); // the toolkit's element does not tell that it takes no click yet
  const stopButton = frame.getByTestId('stop');
  const phase = async () => ((await frame.locator('body').getAttribute('data-phase')) ?? '') as RunPhase | '';
  /** Until it stands there: what goes in while a dialog gives the focus back can land where the focus just was. */
  const write = (text: string) =>
    eventually(`the message box holds "${text}"`, async () => {
      await composer.fill(text);
      return (await composer.inputValue()) === text;
    });
  return {
    frame,
    composer,
    sendButton,
    stopButton,
    phase,
    ready: () => composer.waitFor(),
    write,
    async send(text) {
      await write(text);
      await sendButton.click();
    },
    stop: () => stopButton.click(),
    async continueHeld() {
      const said = frame.locator('[data-role="assistant"]');
      const held = frame.getByTestId('continue-held');
      await held.waitFor();
      const before = await said.count();
      // A dialog that closes may take the keys back between the focus and the key; a reload may have brought an old draft back.
      await eventually('the run has gone on', async () => {
        if (await held.isVisible()) {
          await composer.fill('');
          await composer.press('Enter');
        }
        return !(await held.isVisible());
      });
      await eventually('the model has gone on', async () => (await said.count()) > before);
      await this.waitForPhase(['WaitingUser', 'Completed']);
    },
    hasTheKeys: () =>
      eventually('the message has the keys', () =>
        composer.evaluate((element) => element.matches(':focus') && element.ownerDocument.hasFocus()),
      ),
    async shows(text) {
      let said = '';
      const holds = async () => {
        said = await frame.locator('#panel').innerText(); // what was read aloud before stays beside it
        return typeof text === 'string' ? said.includes(text) : text.test(said);
      };
      await eventually(`the panel shows ${text}`, holds).catch((cause) => {
        throw new Error(`${cause.message}. It shows:\n${said}`, { cause });
      });
    },
    async waitForPhase(phases) {
      const wanted = [phases].flat();
      let now: RunPhase | '' = '';
      const holds = async () => {
        now = await phase();
        return wanted.includes(now);
      };
      await eventually(`the panel's phase is ${wanted.join(' or ')}`, holds).catch(async (cause) => {
        throw new Error(`${cause.message}, but "${now}". It shows:\n${await frame.locator('body').innerText()}`, {
          cause,
        });
      });
      return now;
    },
    cards: (tool) => frame.locator(tool ? `[data-call][data-tool="${tool}"]` : '[data-call]'),
    transcript: () =>
      frame.locator('[data-role], [data-call]').evaluateAll((elements) =>
        elements.map((element) => {
          const { role, call, tool, status } = element.dataset;
          if (call !== undefined)
            return { tool: tool ?? '', status: status ?? '', call, text: element.innerText.trim() };
          let text = element.innerText; // less who says it, and the cards that stand inside the message: they follow as entries
          for (const part of element.querySelectorAll('h2.for-screen-readers, [data-call]'))
            text = text.replace(part.innerText, '');
          return { role: role ?? '', text: text.trim() };
        }),
      ),
  };
}

/** A transcript as lines to read: `user  …`, `assistant  …`, `→ fs.read [done]`. */
export function transcriptText(entries: TranscriptEntry[]): string {
  return entries
    .map((entry) => ('tool' in entry ? `→ ${entry.tool} [${entry.status}]` : `${entry.role.padEnd(10)} ${entry.text}`))
    .join('\n');
}
