/** A page of the dashboard that stays open, without a browser: it does what `src/dashboard/assets/dashboard.js` does. */
import { Agent, request } from 'undici';

export interface OpenTab {
  /** Resolves when its stream is open. */
  readonly connected: Promise<void>;
  /** How often it has read the page. */
  readonly reads: () => number;
  readonly failures: () => readonly string[];
  stop(): Promise<void>;
}

/** Opens a page with the cookies of a session. */
export function openTab(url: string, page: string, cookie: string): OpenTab {
  const dispatcher = new Agent({ connections: 2, bodyTimeout: 0 });
  const leaving = new AbortController();
  const { signal } = leaving;
  const connected = Promise.withResolvers<void>();
  const failures: string[] = [];
  let [reads, etag] = [0, ''];
  let told: string | undefined;
  let reading: Promise<void> | undefined;
  const stream = new URLSearchParams(/^\/policies\/(?<namespace>[^/]+)\/(?<name>[^/]+)$/.exec(page)?.groups);

  async function readAgain(): Promise<void> {
    while (told !== undefined && !signal.aborted) {
      const headers = {
        cookie,
        accept: 'text/html',
        'accept-encoding': 'gzip',
        'x-changed': told,
        ...(etag !== '' && { 'if-none-match': etag }),
      };
      told = undefined;
      const answer = await request(`${url}/live${page}`, { headers, dispatcher, signal });
      await answer.body.dump();
      if (answer.statusCode !== 200 && answer.statusCode !== 304) failures.push(`${page}: ${answer.statusCode}`);
      etag = String(answer.headers.etag ?? '');
      reads++;
    }
    reading = undefined;
  }

  async function follow(): Promise<void> {
    const answer = await request(`${url}/stream?${stream.toString()}`, { headers: { cookie }, dispatcher, signal });
    if (answer.statusCode !== 200) failures.push(`/stream: ${answer.statusCode}`);
    connected.resolve();
    for await (const chunk of answer.body) {
      for (const [, mark] of String(chunk).matchAll(/^event: changed\ndata: (.+)$/gm)) told = mark;
      if (told !== undefined) reading ??= readAgain().catch((error: unknown) => note(error));
    }
  }
  const note = (error: unknown) => void (signal.aborted || failures.push(String(error)));
  const following = follow().catch((error: unknown) => (connected.resolve(), note(error)));
  return {
    connected: connected.promise,
    reads: () => reads,
    failures: () => failures,
    async stop() {
      leaving.abort();
      await Promise.all([following, reading]);
      await dispatcher.destroy();
    },
  };
}
