/** Checks whether a form was sent from a page of the dashboard. Pure. */

interface FormHeaders {
  readonly [header: string]: string | readonly string[] | undefined;
}

/**
 * Whether a form was sent from the dashboard. Browsers send the origin of a request in Sec-Fetch-Site (https://www.w3.org/TR/fetch-metadata/), and in Origin. A
 * form without either is refused, because every maintained browser sends one of them with a POST. Cookies with SameSite=Lax are the second line of defence.
 */
export function isOwnForm(headers: FormHeaders): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  if (typeof origin !== 'string' || typeof host !== 'string') return false;
  return URL.parse(origin)?.host === host;
}

/** A path within the dashboard to return to; `/` for any other text. */
export function localPath(text: string | undefined): string {
  // Backslashes and control characters are refused: the URL parser of browsers treats \ as / and drops the others, so //evil.example has several forms.
  const parsed = text === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? null : URL.parse(text, 'http://dashboard.invalid');
  return parsed?.origin === 'http://dashboard.invalid' && !parsed.pathname.startsWith('//') ? `${parsed.pathname}${parsed.search}` : '/';
}
