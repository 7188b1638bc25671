/** What the two ways to call GitHub have in common: addresses and headers. */

export const publicGithub = 'https://api.github.com';

/** The address of a resource of GitHub's API: `https://api.github.com/repos/shop/web/dispatches`. */
export function githubUrl(url: string, project: string, path: string): URL {
  const repository = project.split('/').map(encodeURIComponent).join('/');
  return new URL(`${url}/repos/${repository}/${path}`);
}

/** The headers for GitHub's REST API. */
export function githubHeaders(token: string): Record<string, string> {
  return {
    accept: 'application/vnd.github+json',
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'x-github-api-version': '2022-11-28',
  };
}
