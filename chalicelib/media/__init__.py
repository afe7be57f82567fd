"""Pictures: announced or received, attached to what they show, made anew by a worker, served by signed link. And
their public copies, for what everybody may see.

It does not know what a picture is for. Other rooms use: `service`, `model`, `library`, `remote`.

`app.py` also uses `jobs`.
"""
