/** Programs of codeio whose items are unsound, as verification/keys/tasks/_unsound_programs.py prints them. */

/** They depend on the time, random numbers or the order of sets, or change their input before the question shows it. */
export const UNSOUND_PROGRAMS: ReadonlySet<string> = listFingerprints(`
  01036e16 035d5799 0450872d 0536b8c7 059d4730 05a4e55c 0653c6a9 079bf5a7 07e05ff6 083d6af2 08551f09 08bcc56b
  08ce5ca1 09fa49e9 0a4e6862 0ac6703d 0d5f289b 0f30e360 0fa05fd8 12e2a20d 12fa498a 13914ca8 13e156e1 142a7d8e
  14a3566a 14f69131 153239ce 15375e18 1539c695 15ec827d 177fac61 18c947f8 1a440713 1ae69373 1ce2c565 1d3f18a8
  1e7da1f0 202bf57b 2122a8eb 22b478a9 252b6da5 25bd9274 26c79991 2826a8a0 287f1650 28b858bf 2ad4f13a 2b66d663
  2b70023d 2cc2db31 2d1a49c4 2d6c6d54 2e18a9bf 2e21bffd 2e908632 301c16e4 30de7f43 316a4500 31ab26bc 31f7e335
  32709777 3353ef03 3634676a 366937bd 39284a0c 39ea8d38 39f0f7e6 3a751c5c 3b47efcf 3bf51876 3d0ea493 3e74edab
  3f9c898b 3fed3d0b 4049e9e9 40ead27a 4163f5fa 451add0b 457c2b86 465ee6ae 46b11036 46bee882 479ef4e3 49733c3f
  4a01f684 4a732dc7 4be68488 4c3f4d4e 4d5154c3 4da0f0b5 4e227ea8 501cf1ce 51ad8d77 533c8521 547a2df3 54982973
  55f47bff 561fc1d0 56c95d36 571281b4 59e52191 5a364244 5c30e435 5c5f8ce0 5dfbe50d 5ebe1de3 5f309785 634148a9
  64bb1bec 6519028e 696c833a 697d308d 69c0e226 6bdbd0ad 6cbb17b5 6d20af37 6d6fd8d9 6f476894 6f4d2d20 6f739951
  6fa91845 7111aace 728db92a 72ad5131 72c57de6 75472a65 757fcd42 75b5ef07 76b0b268 793f62d4 799ea48e 79ad1a71
  7a7d5b2c 7bf5ab8f 7c2b5803 807a3eda 80debca3 8125ee44 834b62d9 84c15c92 86feba15 88ded7f4 8913a21b 8b0c9a42
  8c5cef00 8d3b5e61 8d3e3977 900a23ba 9277ef9c 95253579 95cfdb9e 95ebd1b1 98ab23b6 98bb9ddd 9a29d4f7 9a93a3bb
  9c649615 9c8f33e3 9ce98c67 9d841bf5 9da8301b 9dece366 9dedfedd 9e5db1f1 9ef897a4 9f0e81ff 9f5fde8b a089a82c
  a1e8d807 a3345425 a33cfb27 a34cfa0e a4318203 a4d9f53d a6501a20 a79ac85b a8e87dab a955b5c4 aaf0d4e3 ab09e0b0
  abd83781 ad6de6dc ad7b2c82 adcb7e4e adf99fce ae75c04f b239ff04 b2a9d434 b3579e69 b3f2ec48 b4deaddb b52896f0
  b585b1ce b5ea2671 b6685816 b7d76325 b885dc86 b923804b b9cee96d ba5df42c bb8ec94a bc62f2c1 be0878d7 be4e702f
  c10501a2 c278e621 c2a44849 c308ddad c30e7808 c466fc87 c732b0e2 c7453709 c76d9efd c79e6066 c79e640f c949736f
  caee1ad7 cb3a72ea cc2ac5cb cc2de580 ccbd7d01 ce502fbb cf0c9eb4 d109aa85 d320213b d35ad885 d55f3128 d56604b6
  d7788360 d794d25d d8b0b12c d973aadc d996a80a d9c0a1c9 da6e64dc db3181d8 dbf3b731 dc1220c9 dc6da9f3 de0e252b
  df689914 e1052eea e11f58df e135c4c5 e18d0d79 e281510d e3004eac e408d67d e415f610 e5b7989f e7309df0 e7cad0e4
  e7f54c3e e88f6fee e9cf214b ea09e2c7 eaa949d1 eb23572f ed02255e ed60e64c edd5250d ef913a90 f0121c49 f02f2446
  f1278b1c f2a8c278 f3c44f16 f40d2ff8 f45e7099 f48e3a11 f515a066 f568de76 f57b8126 f62268ca f6f8a936 f7ce8c88
  f8fccd47 f8fe1e63 fab99ad1 ff8140f8 ff8306e1
`)

/** No JSON is the input that they need, such as one with tuples or with numbers as keys. */
export const UNLIKE_JSON_PROGRAMS: ReadonlySet<string> = listFingerprints(`
  034dddfc 0dfed302 1b153d48 1c7da90c 224d4a21 2b93d5ec 2e2da291 2f2fd33f 3433732b 44738b4d 54dd286b 56e2d46f
  5bb06c04 771bc2d0 7916adcd 7ab0c801 8a4fd987 8d49192c 9063543a a18c398b b6988b46 ba42316d be4492de cd5b8ab9
  cf3c7e10 d6957b96 dd199ca1 e37bd40e e84433db ed0dcae4 f7df222d
`)

function listFingerprints(text: string): Set<string> {
  return new Set(text.trim().split(/\s+/))
}
