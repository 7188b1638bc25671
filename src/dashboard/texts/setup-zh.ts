import type { Texts } from './en.ts';

export const setupZh: Texts['receiving'] = {
  copy: '复制',
  copied: '已复制',
  steps: (provider) => `接入方法（${provider}）`,
  states: {
    delivers: '正常通知',
    refused: '最近一次投递被拒绝',
    waits: '等待第一次投递',
  },
  answers: {
    '200': '已接受；其中没有推送',
    '202': '已接受',
    '400': '无法读取',
    '401': '密钥不一致：请比较发送方的密钥与接收端的密钥',
    '404': 'URL 不正确',
    '408': '请求体到达太慢',
    '413': '过大',
    '415': '不是 JSON',
    '429': '请求过多：请提高该接收端的 requestsPerMinute',
    '431': '请求头过大',
    '503': 'Redis 未能保存：发送方需要重试',
  },
  lastIgnored: '最近忽略的',
  lastRefused: '最近拒绝的',
};
