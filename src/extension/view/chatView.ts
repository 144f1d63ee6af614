import type * as vscode from 'vscode';
import { type HostMessage, type ViewMessage, viewMessageSchema } from '../../protocol/panel/panelMessages.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import type { ChatPage, ChatPageContainer } from './chatPage.ts';
import { PanelEventQueue } from './delivery.ts';
import type { PanelActivity } from './idleDetection.ts';
import { logNotice } from './noticeLog.ts';

/** Maximum of panel messages per second, above any user input. */
const messageLimit = 200;

export type PanelRequest = Exclude<ViewMessage, { type: 'here' }>;

interface PanelListener {
  receive(message: PanelRequest): void;
  /** Called when a page becomes visible, hidden or ready. */
  turned(): void;
}

/** Milliseconds for the panel's answer about user activity. */
const answerMs = 2000;

const drawnMs = 20_000;

const forOne: ReadonlySet<HostMessage['type']> = new Set([
  'focus',
  'draft',
  'mention',
  'pasted',
  'unheard',
  'say-unheard',
  'edit-waiting',
  'system-notification',
]);

/** Chat view: validates messages of the panel, and sends batched messages to each page. Contains no logic. */
export class ChatView {
  private readonly ready = new Set<ChatPageContainer>();
  private readonly events = new PanelEventQueue((events) => this.postNow({ type: 'events', events }));
  private budget = messageLimit;
  private budgetFrom = 0;
  private looks = 0;
  private readonly looked = new Map<number, (look: PanelActivity) => void>();
  private readonly comes = new Set<() => void>();

  constructor(
    private readonly page: ChatPage,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Delivers the messages of the pages, earlier messages included. */
  listen(listener: PanelListener): void {
    this.page.listen({
      opened: (location) => this.ready.delete(location),
      closed: (location) => this.ready.delete(location),
      received: (message, location) => this.arrived(message, location, listener),
      turned: () => {
        // The editor discards hidden pages; a page that returns is new and reports when rendered.
        for (const location of this.ready) if (!location.visible) this.ready.delete(location);
        listener.turned();
        for (const look of this.comes) look();
      },
    });
  }

  showTab(): void {
    this.page.showTab();
  }

  post(message: HostMessage): void {
    this.events.flush(); // earlier events first
    if (message.type === 'notice' && message.notice) logNotice(this.log, message.notice);
    this.postNow(message);
  }

  event(event: RunEvent): void {
    if (this.ready.size > 0) this.events.add(event); // otherwise the snapshot of the new page contains the event
  }

  get inView(): boolean {
    return this.inSight.length > 0;
  }

  /** Reveals the panel, sends the message once rendered, and focuses the message box. */
  async give(hostMessage: HostMessage): Promise<void> {
    await this.page.reveal();
    if (!(await this.drawn()))
      throw new UserFacingError(message('The chat did not open. Open its view and try again.'));
    this.post(hostMessage);
    await this.focus();
  }

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

  async look(): Promise<PanelActivity | 'silent' | 'hidden'> {
    const looks = (await this.lookAll()).map(([, look]) => look);
    if (looks.length === 0) return 'hidden';
    const answered = looks.filter((look) => look !== 'silent');
    if (answered.length < looks.length) return 'silent';
    return {
      idleMs: Math.min(...answered.map(({ idleMs }) => idleMs)),
      focused: answered.some(({ focused }) => focused),
    };
  }

  /**
   * Focuses the message box once its view is rendered. Never opens a hidden view.
   *
   * @param requested the user asked for the message box: the find box does not keep the focus
   */
  async focus({ wanted, requested }: { wanted?: () => boolean; requested?: boolean } = {}): Promise<void> {
    if (this.page.locations.some(({ visible }) => visible)) await this.drawn();
    for (let tries = 0; tries < 3; tries++) {
      const now = await this.lookAll();
      const hasKeys = ([, look]: [ChatPageContainer, PanelActivity | 'silent']) => look !== 'silent' && look.focused;
      const [location, look] = now.find(hasKeys) ?? now[0] ?? [];
      if (!location || wanted?.() === false) return;
      const focused = now.some(hasKeys);
      // A page cannot take the focus from its window, and a page with the focus would lose keys during a reveal.
      if (!focused) await location.reveal();
      this.events.flush();
      // A page that answers late must not take the focus from what has opened since.
      const gently = (focused && !requested) || look === 'silent';
      location.post({ type: 'focus', ...(gently && { gently }) } satisfies HostMessage);
      // The answer confirms that the focus has moved, so that later dialogs keep theirs.
      if (focused || look === 'silent') return void (await this.lookAll());
    }
  }

  private get inSight(): ChatPageContainer[] {
    return this.page.locations.filter((location) => location.visible && this.ready.has(location));
  }

  private lookAll(): Promise<[ChatPageContainer, PanelActivity | 'silent'][]> {
    return Promise.all(
      this.inSight.map(
        async (location): Promise<[ChatPageContainer, PanelActivity | 'silent']> => [
          location,
          await this.lookAt(location),
        ],
      ),
    );
  }

  private lookAt(location: ChatPageContainer): Promise<PanelActivity | 'silent'> {
    this.looks += 1;
    const own = this.looks;
    let late: NodeJS.Timeout | undefined;
    const answer = new Promise<PanelActivity | 'silent'>((resolve) => {
      late = setTimeout(() => resolve('silent'), answerMs);
      this.looked.set(own, resolve);
    });
    location.post({ type: 'look', look: own } satisfies HostMessage);
    return answer.finally(() => {
      clearTimeout(late);
      this.looked.delete(own);
    });
  }

  private postNow(message: HostMessage): void {
    const drawn = this.page.locations.filter((location) => this.ready.has(location));
    const one = forOne.has(message.type) ? (this.inSight[0] ?? drawn[0]) : undefined;
    for (const location of one ? [one] : drawn) location.post(message);
  }

  private arrived(message: unknown, location: ChatPageContainer, listener: PanelListener): void {
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
      this.ready.add(location);
      listener.turned();
      for (const look of this.comes) look();
    }
    if (parsed.data.type === 'here') this.looked.get(parsed.data.look)?.(parsed.data);
    else {
      if (parsed.data.type !== 'ready') this.page.use(location);
      listener.receive(parsed.data);
    }
  }
}
