import * as vscode from 'vscode';
import type { RunEvent } from '../../protocol/events.ts';
import { type HostMessage, type ViewMessage, viewMessageSchema } from '../../protocol/view.ts';
import type { PanelLook } from './attention.ts';
import type { ChatPage } from './chatPage.ts';
import { Delivery } from './delivery.ts';

/** Messages the panel may send in a second; a person cannot click faster. */
const messageLimit = 200;

/** All that the panel says but its answers to `look`. */
export type Intention = Exclude<ViewMessage, { type: 'here' }>;

/** Milliseconds that the panel has to say what the person does; a page that works at something may take a while. */
const answerMs = 2000;

/** What the chat panel says arrives here checked, what it is told goes out in batches. It decides nothing. */
export class ChatView {
  private ready = false;
  private readonly events = new Delivery((events) => this.tell({ type: 'events', events }));
  private budget = messageLimit;
  private budgetFrom = 0;
  private looks = 0;
  private readonly looked = new Map<number, (look: PanelLook) => void>();

  constructor(
    private readonly page: ChatPage,
    private readonly receive: (message: Intention) => void,
    private readonly log: vscode.LogOutputChannel,
    /** It came into view, or went out of it: what waits is told in the other place. */
    private readonly turned: () => void,
  ) {}

  /** Hears what the page says from now on, and has said already. */
  listen(): void {
    this.page.listen({
      opened: () => {
        this.ready = false;
      },
      said: (message) => this.arrived(message),
      turned: () => this.turned(),
    });
  }

  post(message: HostMessage): void {
    this.events.flush(); // what happened before is told before
    this.tell(message);
  }

  /** Events reach the panel in order, at most 60 deliveries a second. */
  event(event: RunEvent): void {
    if (this.ready) this.events.add(event); // else the snapshot that the panel asks for when it is ready holds it
  }

  /** It is drawn, and on the screen. */
  get inView(): boolean {
    return this.ready && this.page.visible;
  }

  /** What the person does in the panel, by its own clock. */
  async look(): Promise<PanelLook | 'silent' | 'hidden'> {
    if (!this.inView) return 'hidden';
    this.looks += 1;
    const mine = this.looks;
    let late: NodeJS.Timeout | undefined;
    const answer = new Promise<PanelLook | 'silent'>((resolve) => {
      late = setTimeout(() => resolve('silent'), answerMs);
      this.looked.set(mine, resolve);
    });
    this.tell({ type: 'look', look: mine });
    return answer.finally(() => {
      clearTimeout(late);
      this.looked.delete(mine);
    });
  }

  /** The next key lands in the message box. Not from out of view: a view that nobody opened is not opened by this. */
  async focus(wanted = () => true): Promise<void> {
    for (let tries = 0; tries < 3; tries++) {
      const now = await this.look();
      if (now === 'hidden' || !wanted()) return;
      const focused = now !== 'silent' && now.focused;
      // A page cannot take the focus from the window around it. One that has it would lose it for a moment, and keys with it.
      if (!focused) await vscode.commands.executeCommand('towpath.chat.focus');
      this.post({ type: 'focus', ...(focused && { gently: true }) });
      if (focused) return void (await this.look()); // it answers in order: nothing that opens after this loses the keys to it
    }
  }

  private tell(message: HostMessage): void {
    if (this.ready) this.page.post(message);
  }

  private arrived(message: unknown): void {
    const now = performance.now();
    if (now - this.budgetFrom > 1000) {
      this.budgetFrom = now;
      this.budget = messageLimit;
    }
    if (this.budget-- <= 0) return;
    const parsed = viewMessageSchema.safeParse(message);
    if (!parsed.success) {
      this.log.warn(`The panel sent something unknown: ${parsed.error.issues[0]?.message}`);
      return;
    }
    if (parsed.data.type === 'ready') {
      this.ready = true;
      this.turned();
    }
    if (parsed.data.type === 'here') this.looked.get(parsed.data.look)?.(parsed.data);
    else this.receive(parsed.data);
  }
}
