import type * as vscode from 'vscode';
import { type HostMessage, type ViewMessage, viewMessageSchema } from '../../protocol/panel/panelMessages.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import type { ChatPage, ViewLocation } from './chatPage.ts';
import { Delivery } from './delivery.ts';
import type { PanelLook } from './idleDetection.ts';
import { logNotice } from './noticeLog.ts';

/** Messages the panel may send in a second; a person cannot click faster. */
const messageLimit = 200;

/** All that the panel says but its answers to `look`. */
export type Intention = Exclude<ViewMessage, { type: 'here' }>;

/** Milliseconds that the panel has to say what the person does; a page that works at something may take a while. */
const answerMs = 2000;

/** Milliseconds that a page has to be drawn. */
const drawnMs = 20_000;

/** Meant for the person, who is in one place: not for every page. */
const forOne: ReadonlySet<HostMessage['type']> = new Set([
  'focus',
  'draft',
  'mention',
  'pasted',
  'unheard',
  'say-unheard',
  'edit-waiting',
]);

/** What the chat panel says arrives here checked, what it is told goes out in batches, to each of its pages. It decides nothing. */
export class ChatView {
  /** Pages that are drawn. */
  private readonly ready = new Set<ViewLocation>();
  private readonly events = new Delivery((events) => this.tell({ type: 'events', events }));
  private budget = messageLimit;
  private budgetFrom = 0;
  private looks = 0;
  private readonly looked = new Map<number, (look: PanelLook) => void>();
  /** Those that wait for a page. */
  private readonly comes = new Set<() => void>();

  constructor(
    private readonly page: ChatPage,
    private readonly receive: (message: Intention) => void,
    private readonly log: vscode.LogOutputChannel,
    /** It came into view, or went out of it: what waits is told in the other place. */
    private readonly turned: () => void,
  ) {}

  /** Hears what the pages say from now on, and have said already. */
  listen(): void {
    this.page.listen({
      opened: (place) => this.ready.delete(place),
      closed: (place) => this.ready.delete(place),
      said: (message, place) => this.arrived(message, place),
      turned: () => {
        // The editor throws the page of a hidden place away. What comes up there again is another one, which tells when it is drawn.
        for (const place of this.ready) if (!place.visible) this.ready.delete(place);
        this.turned();
        for (const look of this.comes) look();
      },
    });
  }

  /** Also in a tab of the editors. */
  showTab(): void {
    this.page.showTab();
  }

  post(message: HostMessage): void {
    this.events.flush(); // what happened before is told before
    if (message.type === 'notice' && message.notice) logNotice(this.log, message.notice);
    this.tell(message);
  }

  /** Events reach the panel in order, at most 60 deliveries a second. */
  event(event: RunEvent): void {
    if (this.ready.size > 0) this.events.add(event); // else the snapshot that the panel asks for when it is ready holds it
  }

  /** It is drawn, and on the screen. */
  get inView(): boolean {
    return this.inSight.length > 0;
  }

  /** Brings the panel up, tells it this once it is drawn, and the next key lands in the message box. */
  async give(hostMessage: HostMessage): Promise<void> {
    await this.page.reveal();
    if (!(await this.drawn()))
      throw new UserFacingError(message('The chat did not open. Open its view and try again.'));
    this.post(hostMessage);
    await this.focus();
  }

  /** Resolves to whether it is in view, after a while to false. */
  private async drawn(): Promise<boolean> {
    let look = () => {};
    let timer: NodeJS.Timeout | undefined;
    const comes = new Promise<boolean>((resolve) => {
      look = () => this.inView && resolve(true);
      timer = setTimeout(() => resolve(false), drawnMs);
      this.comes.add(look);
      look();
    });
    return comes.finally(() => {
      clearTimeout(timer);
      this.comes.delete(look);
    });
  }

  /** What the person does in the panel, by its own clock. */
  async look(): Promise<PanelLook | 'silent' | 'hidden'> {
    const looks = (await this.lookAll()).map(([, look]) => look);
    if (looks.length === 0) return 'hidden';
    const told = looks.filter((look) => look !== 'silent');
    if (told.length < looks.length) return 'silent';
    return { idleMs: Math.min(...told.map(({ idleMs }) => idleMs)), focused: told.some(({ focused }) => focused) };
  }

  /**
   * The next key lands in the message box, of a view that has just come up once that is drawn. Not from out of view: a view that nobody
   * opened is not opened by this.
   */
  async focus(wanted = () => true): Promise<void> {
    if (this.page.places.some(({ visible }) => visible)) await this.drawn();
    for (let tries = 0; tries < 3; tries++) {
      const now = await this.lookAll();
      const hasKeys = ([, look]: [ViewLocation, PanelLook | 'silent']) => look !== 'silent' && look.focused;
      const [place] = now.find(hasKeys) ?? now[0] ?? [];
      if (!place || !wanted()) return;
      const focused = now.some(hasKeys);
      // A page cannot take the focus from the window around it. One that has it would lose it for a moment, and keys with it.
      if (!focused) await place.reveal();
      this.events.flush();
      place.post({ type: 'focus', ...(focused && { gently: true }) } satisfies HostMessage);
      if (focused) return void (await this.lookAll()); // it answers in order: nothing that opens after this loses the keys to it
    }
  }

  /** On the screen and drawn, the one that the person used last before the others. */
  private get inSight(): ViewLocation[] {
    return this.page.places.filter((place) => place.visible && this.ready.has(place));
  }

  private lookAll(): Promise<[ViewLocation, PanelLook | 'silent'][]> {
    return Promise.all(
      this.inSight.map(
        async (place): Promise<[ViewLocation, PanelLook | 'silent']> => [place, await this.lookAt(place)],
      ),
    );
  }

  private lookAt(place: ViewLocation): Promise<PanelLook | 'silent'> {
    this.looks += 1;
    const mine = this.looks;
    let late: NodeJS.Timeout | undefined;
    const answer = new Promise<PanelLook | 'silent'>((resolve) => {
      late = setTimeout(() => resolve('silent'), answerMs);
      this.looked.set(mine, resolve);
    });
    place.post({ type: 'look', look: mine } satisfies HostMessage);
    return answer.finally(() => {
      clearTimeout(late);
      this.looked.delete(mine);
    });
  }

  private tell(message: HostMessage): void {
    const drawn = this.page.places.filter((place) => this.ready.has(place));
    const one = forOne.has(message.type) ? (this.inSight[0] ?? drawn[0]) : undefined;
    for (const place of one ? [one] : drawn) place.post(message);
  }

  private arrived(message: unknown, place: ViewLocation): void {
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
      this.ready.add(place);
      this.turned();
      for (const look of this.comes) look();
    }
    if (parsed.data.type === 'here') this.looked.get(parsed.data.look)?.(parsed.data);
    else {
      if (parsed.data.type !== 'ready') this.page.use(place);
      this.receive(parsed.data);
    }
  }
}
