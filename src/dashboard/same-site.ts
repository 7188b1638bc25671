/** Whether a form was sent from a page of the dashboard. Pure. */

interface FormHeaders {
  readonly [header: string]: string | readonly string[] | undefined;
}

/**
 * Browsers say where a request comes from: in Sec-Fetch-Site (https://www.w3.org/TR/fetch-metadata/), and in Origin. A form without either is refused, because
 * every browser that is still maintained sends one of them with a POST. Cookies with SameSite=Lax are the second line of defence.
 */
export function isOwnForm(headers: FormHeaders): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  if (typeof origin !== 'string' || typeof host !== 'string') return false;
  return URL.parse(origin)?.host === host;
}

/** A path within the dashboard, to return to; `/` for everything else. */
export function localPath(text: string | undefined): string {
  // The URL parser of browsers takes \ for / and drops control characters, so //evil.example has more forms than one.
  const parsed = text === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? null : URL.parse(text, 'http://dashboard.invalid');
  return parsed?.origin === 'http://dashboard.invalid' && !parsed.pathname.startsWith('//') ? `${parsed.pathname}${parsed.search}` : '/';
}
