/**
 * The target of `rel="next"` in Link headers (RFC 8288), as it is written there; undefined when there is none. A link without any relation counts as the
 * next page where nothing else does: some registries write that, and a list that ends too early would go unnoticed. Throws an Error for what is no link.
 */
export function nextLink(header: string | readonly string[] | undefined): string | undefined {
  const text = header === undefined ? '' : typeof header === 'string' ? header : header.join(',');
  let unnamed: string | undefined;
  let links = 0;
  // A target may hold commas and semicolons, so the header cannot be split at them.
  for (const [, target, parameters = ''] of text.matchAll(/<([^<>]*)>((?:[^<>"]|"[^"]*")*)/g)) {
    const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters);
    links++;
    if (relation === null) unnamed ??= target;
    else if ((relation[1] ?? relation[2] ?? '').toLowerCase().split(/\s+/).includes('next')) return target;
  }
  if (links === 0 && text.trim() !== '') throw new Error('the Link header cannot be read');
  return unnamed || undefined;
}
