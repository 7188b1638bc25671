import type { SecretNews, SecretStore } from './secrets.ts';

/**
 * Looks at the files of secrets every few seconds. By content: the kubelet swaps a symlink to the folder, which events of the file system announce
 * differently on every platform. Does not keep the process alive.
 */
export function watchSecrets(reread: SecretStore['reread'], onNews: (news: SecretNews) => void, everyMs = 3_000): { stop(): void } {
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    for (const news of await reread()) onNews(news);
    looking = false;
  };
  const timer = setInterval(() => void look(), everyMs).unref();
  return { stop: () => clearInterval(timer) };
}
