/** What Python 3.11 knows of Unicode 14.0 where Node, with a newer Unicode, would say otherwise; hexadecimal code points. */

/** First digits of the runs of ten that `\d`, `int()` and `float()` take. */
export const ZEROS =
  '30 660 6f0 7c0 966 9e6 a66 ae6 b66 be6 c66 ce6 d66 de6 e50 ed0 f20 1040 1090 17e0 1810 1946 19d0 1a80 1a90 ' +
  '1b50 1bb0 1c40 1c50 a620 a8d0 a900 a9d0 a9f0 aa50 abf0 ff10 104a0 10d30 11066 110f0 11136 111d0 112f0 11450 ' +
  '114d0 11650 116c0 11730 118e0 11950 11c50 11d50 11da0 16a60 16ac0 16b50 1d7ce 1d7d8 1d7e2 1d7ec 1d7f6 1e140 ' +
  '1e2f0 1e950 1fbf0'

/** Digits for `isdigit()` beside decimals: superscripts, circled digits and their like. */
export const OTHER_DIGITS =
  'b2-b3 b9 1369-1371 19da 2070 2074-2079 2080-2089 2460-2468 2474-247c 2488-2490 24ea 24f5-24fd 24ff 2776-277e ' +
  '2780-2788 278a-2792 10a40-10a43 10e60-10e68 11052-1105a 1f100-1f10a'

/** Numbers for `isnumeric()` that are letters by category: ideographs. */
export const OTHER_NUMERICS =
  '3405 3483 382a 3b4d 4e00 4e03 4e07 4e09 4e5d 4e8c 4e94 4e96 4ebf-4ec0 4edf 4ee8 4f0d 4f70 5104 5146 5169 ' +
  '516b 516d 5341 5343-5345 534c 53c1-53c4 56db 58f1 58f9 5e7a 5efe-5eff 5f0c-5f0e 5f10 62fe 634c 67d2 6f06 ' +
  '7396 767e 8086 842c 8cae 8cb3 8d30 9621 9646 964c 9678 96f6 f96b f973 f978 f9b2 f9d1 f9d3 f9fd 20001 20064 ' +
  '200e2 20121 2092a 20983 2098c 2099c 20aea 20afd 20b19 22390 22998 23b1b 2626d 2f890'

/** Letters and numbers that came after Unicode 14.0. */
export const NEWER =
  '88f c5c cdc 1c89-1c8a a7cb-a7cf a7d2 a7d4 a7da-a7dc a7f1 105c0-105f3 10940-10959 10d40-10d65 10d6f-10d85 ' +
  '10ec2-10ec7 1123f-11240 11380-11389 1138b 1138e 11390-113b5 113b7 113d1 113d3 116d0-116e3 11bc0-11be0 ' +
  '11bf0-11bf9 11db0-11ddb 11de0-11de9 11f02 11f04-11f10 11f12-11f33 11f50-11f59 1342f 13441-13446 13460-143fa ' +
  '16100-1611d 16130-16139 16d40-16d6c 16d70-16d79 16ea0-16eb8 16ebb-16ed3 16ff2-16ff6 187f8-187ff 18cff ' +
  '18d09-18d1e 18d80-18df2 1b132 1b155 1ccf0-1ccf9 1d2c0-1d2d3 1df25-1df2a 1e030-1e06d 1e4d0-1e4eb 1e4f0-1e4f9 ' +
  '1e5d0-1e5ed 1e5f0-1e5fa 1e6c0-1e6de 1e6e0-1e6e2 1e6e4-1e6e5 1e6e7-1e6ed 1e6f0-1e6f4 1e6fe-1e6ff 2b739-2b73f ' +
  '2cea2-2cead 2ebf0-2ee5d 31350-33479'

/** Letters whose lower case came after 14.0. */
export const NEWER_LOWER = '1c89 a7cb-a7cc a7ce a7d2 a7d4 a7da a7dc 10d50-10d65 16ea0-16eb8'

/** Letters whose upper case came after 14.0. */
export const NEWER_UPPER = '19b 264 1c8a a7cd a7cf a7d3 a7d5 a7db 10d70-10d85 16ebb-16ed3'

/** Title cases that are neither the upper case nor the letter itself: `from:to+to`. */
export const TITLES =
  'df:53+73 1c4:1c5 1c6:1c5 1c7:1c8 1c9:1c8 1ca:1cb 1cc:1cb 1f1:1f2 1f3:1f2 587:535+582 1fb2:1fba+345 1fb3:1fbc ' +
  '1fb4:386+345 1fb7:391+342+345 1fc2:1fca+345 1fc3:1fcc 1fc4:389+345 1fc7:397+342+345 1ff2:1ffa+345 1ff3:1ffc ' +
  '1ff4:38f+345 1ff7:3a9+342+345 fb00:46+66 fb01:46+69 fb02:46+6c fb03:46+66+69 fb04:46+66+6c fb05:53+74 ' +
  'fb06:53+74 fb13:544+576 fb14:544+565 fb15:544+56b fb16:54e+576 fb17:544+56d'
