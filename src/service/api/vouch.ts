/** The dashboard vouches for its requests to the API, which all come from one address: it states the client, and whether the token is that of a session. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** The header that contains a vouch. */
export const vouchHeader = 'x-dashboard-vouch';

export interface Vouched {
  /** The IP address of the browser. */
  readonly client: string;
  /** Whether the token was valid when the session began. Otherwise somebody wants to sign in with it. */
  readonly isSession: boolean;
}

/** Signs and reads vouches. Each is for one token. */
export interface Vouching {
  sign(vouched: Vouched, token: string): string;
  /** Reads a vouch; undefined if the dashboard has not signed it for this token. */
  read(text: string | undefined, token: string): Vouched | undefined;
}

/** The secret that is used if none is configured. API and dashboard can then verify each other only within one process. */
const ownSecret = randomBytes(32).toString('base64');

/** Creates the vouching; `secret` returns the secret of the dashboard's sessions. */
export function createVouching(secret: () => string | undefined): Vouching {
  const macOf = (statement: string, token: string) =>
    createHmac('sha256', `image-watcher dashboard vouch ${secret() ?? ownSecret}`)
      .update(JSON.stringify([statement, token]))
      .digest('base64url');
  return {
    sign({ client, isSession }, token) {
      const statement = `${isSession ? 'session' : 'sign-in'},${client}`;
      return `${statement},${macOf(statement, token)}`;
    },
    read(text = '', token) {
      const [kind = '', client = '', mac = ''] = text.split(',');
      const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(`${kind},${client}`, token))];
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      return { client, isSession: kind === 'session' };
    },
  };
}
