import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Fails if a link of the built site leads to a page or an anchor that does not exist: what readers follow, after all plugins. */
export function checkLinks(folder: string, base: string): void {
  const anchors = new Map<string, ReadonlySet<string>>();
  const anchorsIn = (file: string) => {
    const known = anchors.get(file) ?? new Set([...readFileSync(file, 'utf8').matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
    anchors.set(file, known);
    return known;
  };
  const files = globSync('**/*.html', { cwd: folder }).filter((file) => file !== '404.html');
  const broken = files.flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/<a\b[^>]* href="([^"]+)"/g)]
      .map(([, href = '']) => href)
      // The language switch leads to the same page in the other language, and the theme from there to the list of pages if it is not translated.
      .filter((href) => !/^[a-z]+:/.test(href) && href !== `${base}zh-CN/${file.replace(/\.html$/, '')}`)
      .filter((href) => {
        const url = new URL(href, `http://site${base}${file}`);
        const path = decodeURIComponent(url.pathname.slice(base.length));
        const target = [path, `${path}.html`, join(path, 'index.html')].map((one) => join(folder, one)).find((one) => isFile(one));
        const anchor = decodeURIComponent(url.hash.slice(1));
        return target === undefined || (anchor !== '' && !anchorsIn(target).has(anchor));
      })
      .map((href) => `${file}: ${href}`),
  );
  if (files.length === 0 || broken.length > 0) throw new Error(`links that lead nowhere, in ${files.length} pages:\n${broken.join('\n')}`);
}

function isFile(path: string): boolean {
  return /\.\w+$/.test(path) && existsSync(path);
}
