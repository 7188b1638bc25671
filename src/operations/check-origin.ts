/** Whether a request comes from where it says: browsers carry what their user may do to pages that he did not mean. */

export interface RequestOrigin {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly contentType: string | undefined;
}

/** Why a POST is refused, or undefined: no form of another page can send JSON, and a page's own requests name its host. */
export function refusePost({ host, origin, contentType }: RequestOrigin): { status: 403 | 415; message: string } | undefined {
  if (!/^application\/json\s*(?:;|$)/i.test(contentType ?? '')) return { status: 415, message: 'send content-type: application/json' };
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).host === host?.toLowerCase())) return undefined;
  return { status: 403, message: 'the Origin is another one than the Host' };
}

/** Whether the Host is a name of this machine: a name of somebody else's that leads here is an attack on an API without authentication. */
export function isLocalHost(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host);
}
